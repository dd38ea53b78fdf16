import { payPages as pages } from '#api/features/payments/pages.ts'
import { routes } from '#api/features/payments/routes.ts'
import { webhookRoutes as webhooks } from '#api/features/payments/webhooks.ts'
import type { FeatureRoutes } from '#api/http/route.ts'

export const feature: FeatureRoutes = { routes, unversioned: [...pages, ...webhooks] }
