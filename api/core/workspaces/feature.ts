import { routes as memberRoutes } from '#api/core/workspaces/member-routes.ts'
import { routes as pages } from '#api/core/workspaces/pages.ts'
import { routes } from '#api/core/workspaces/routes.ts'
import { routes as serviceAccountRoutes } from '#api/core/workspaces/service-account-routes.ts'
import { createSettingsRoute } from '#api/core/workspaces/settings-route.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const createFeature = (requireLogo: Parameters<typeof createSettingsRoute>[0]): FeatureRoutes => ({
  routes: [...routes, createSettingsRoute(requireLogo), ...memberRoutes, ...serviceAccountRoutes],
  unversioned: pages,
})
