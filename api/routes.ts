import { createFeature as events } from '#api/core/events/feature.ts'
import { feature as jobs } from '#api/core/jobs/feature.ts'
import { feature as notifications } from '#api/core/notifications/feature.ts'
import { createFeature as operators } from '#api/core/operators/feature.ts'
import { feature as people } from '#api/core/people/feature.ts'
import { feature as records } from '#api/core/records/feature.ts'
import { feature as roles } from '#api/core/roles/feature.ts'
import { feature as types } from '#api/core/types/feature.ts'
import { createFeature as workspaces } from '#api/core/workspaces/feature.ts'
import { feature as accounting } from '#api/features/accounting/feature.ts'
import { feature as calendar } from '#api/features/calendar/feature.ts'
import { feature as drive } from '#api/features/drive/feature.ts'
import { feature as flows } from '#api/features/flows/feature.ts'
import { feature as forms } from '#api/features/forms/feature.ts'
import { createFeature as functions } from '#api/features/functions/feature.ts'
import { createFeature as installation } from '#api/features/installation/feature.ts'
import { feature as messages } from '#api/features/messages/feature.ts'
import { feature as payments } from '#api/features/payments/feature.ts'
import { feature as queues } from '#api/features/queues/feature.ts'
import { feature as sites } from '#api/features/sites/feature.ts'
import { createFeature as webhooks } from '#api/features/webhooks/feature.ts'
import type { FeatureRoutes, Section } from '#api/http/route.ts'
import { routes as startPage } from '#api/pages/start.ts'
import { requireLogo } from '#shared/features/sites/logo.ts'
import { jobs as declaredJobs, eventFamilies, sdkMethods } from '#shared/features.ts'

/** Every `feature.ts` of the API by its folder, in the order of `shared/README.md`. */
export const features: Readonly<Record<string, FeatureRoutes>> = {
  people,
  operators: operators(declaredJobs),
  roles,
  workspaces: workspaces(requireLogo),
  types,
  events: events(eventFamilies),
  records,
  notifications,
  jobs,
  drive,
  functions: functions(sdkMethods),
  messages,
  queues,
  accounting,
  calendar,
  payments,
  forms,
  sites,
  flows,
  webhooks: webhooks(eventFamilies),
  installation: installation(declaredJobs),
}
const all = Object.values(features)

/**
 * All routes by path prefix: `/v1` for the versioned ones, none for pages, public routes and callbacks
 * (docs/contract/conventions.md#addresses).
 */
export const sections: readonly Section[] = [
  { base: '/v1', routes: all.flatMap(({ routes = [] }) => routes), events: eventFamilies.flatMap(({ types }) => types) },
  { base: '', routes: [...startPage, ...all.flatMap(({ unversioned = [] }) => unversioned)] },
]
