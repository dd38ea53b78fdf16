import { routes as contentRoutes } from '#api/features/sites/content-routes.ts'
import { routes as publicRoutes } from '#api/features/sites/public.ts'
import { routes } from '#api/features/sites/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...contentRoutes], unversioned: publicRoutes }
