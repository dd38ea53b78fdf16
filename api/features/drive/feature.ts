import { routes as fileRoutes } from '#api/features/drive/file-routes.ts'
import { routes } from '#api/features/drive/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes: [...routes, ...fileRoutes] }
