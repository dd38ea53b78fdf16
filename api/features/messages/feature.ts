import { pages } from '#api/features/messages/pages.ts'
import { routes } from '#api/features/messages/routes.ts'
import { callbacks as webhooks } from '#api/features/messages/webhooks.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes, unversioned: [...pages, ...webhooks] }
