import { routes as fieldRoutes } from '#api/core/types/field-routes.ts'
import { routes as menuGroupRoutes } from '#api/core/types/menu-group-routes.ts'
import { routes } from '#api/core/types/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...menuGroupRoutes, ...fieldRoutes] }
