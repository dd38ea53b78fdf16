import { routes } from '#api/core/jobs/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes }
