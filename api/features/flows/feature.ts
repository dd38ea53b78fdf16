import { routes } from '#api/features/flows/routes.ts'
import { routes as runRoutes } from '#api/features/flows/run-routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...runRoutes] }
