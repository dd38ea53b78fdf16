import { routes as pages } from '#api/features/forms/pages.ts'
import { routes as publicRoutes } from '#api/features/forms/public.ts'
import { routes } from '#api/features/forms/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes, unversioned: [...publicRoutes, ...pages] }
