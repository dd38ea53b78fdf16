import { routes as auditRoutes } from '#api/core/records/audit-routes.ts'
import { routes } from '#api/core/records/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...auditRoutes] }
