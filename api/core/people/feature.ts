import { routes as pages } from '#api/core/people/pages.ts'
import { routes } from '#api/core/people/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes, unversioned: pages }
