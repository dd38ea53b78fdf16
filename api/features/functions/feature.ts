import { routes as publicRoutes } from '#api/features/functions/public.ts'
import { routes } from '#api/features/functions/routes.ts'
import { routes as runRoutes } from '#api/features/functions/run-routes.ts'
import { createSdkRoute } from '#api/features/functions/sdk-route.ts'
import { routes as secretRoutes } from '#api/features/functions/secret-routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'
import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'

export const createFeature = (sdkMethods: readonly SdkMethod[]): FeatureRoutes => ({
  routes: [...secretRoutes, createSdkRoute(sdkMethods), ...routes, ...runRoutes],
  unversioned: publicRoutes,
})
