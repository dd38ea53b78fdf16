import { createRoutes } from '#api/features/webhooks/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'

export const createFeature = (families: readonly EventFamily[]): FeatureRoutes => ({ routes: createRoutes(families) })
