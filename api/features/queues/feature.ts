import { routes as itemRoutes } from '#api/features/queues/item-routes.ts'
import { routes } from '#api/features/queues/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...itemRoutes] }
