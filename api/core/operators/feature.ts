import { entrancePages } from '#api/core/operators/entrance-pages.ts'
import { logPages } from '#api/core/operators/log-page.ts'
import { operatorsPages } from '#api/core/operators/operators-page.ts'
import { routes } from '#api/core/operators/routes.ts'
import { workspacePages } from '#api/core/operators/workspace-pages.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = {
  routes,
  unversioned: [...entrancePages, ...logPages, ...operatorsPages, ...workspacePages],
}
