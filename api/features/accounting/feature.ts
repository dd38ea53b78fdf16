import { routes as bookRoutes } from '#api/features/accounting/book-routes.ts'
import { routes as reportRoutes } from '#api/features/accounting/report-routes.ts'
import { routes } from '#api/features/accounting/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...reportRoutes, ...bookRoutes] }
