import type { Feature } from '#shared/core/automation/feature.ts'
import { feature as notifications } from '#shared/core/notifications/feature.ts'
import { feature as operators } from '#shared/core/operators/feature.ts'
import { feature as people } from '#shared/core/people/feature.ts'
import { feature as records } from '#shared/core/records/feature.ts'
import { feature as roles } from '#shared/core/roles/feature.ts'
import type { RecordGuards } from '#shared/core/scope/record-guard.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { feature as types } from '#shared/core/types/feature.ts'
import { feature as workspaces } from '#shared/core/workspaces/feature.ts'
import { feature as accounting } from '#shared/features/accounting/feature.ts'
import { feature as calendar } from '#shared/features/calendar/feature.ts'
import { feature as drive } from '#shared/features/drive/feature.ts'
import { feature as flows } from '#shared/features/flows/feature.ts'
import { feature as forms } from '#shared/features/forms/feature.ts'
import { feature as functions } from '#shared/features/functions/feature.ts'
import { feature as messages } from '#shared/features/messages/feature.ts'
import { feature as payments } from '#shared/features/payments/feature.ts'
import { feature as queues } from '#shared/features/queues/feature.ts'
import { feature as webhooks } from '#shared/features/webhooks/feature.ts'
import { feature as blobs } from '#shared/platform/blobs/feature.ts'
import { feature as database } from '#shared/platform/db/feature.ts'
import { feature as due } from '#shared/platform/due/feature.ts'
import { defineMaintenanceKind } from '#shared/platform/due/maintenance.ts'
import { feature as events } from '#shared/platform/events/feature.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import { feature as jobQueue } from '#shared/platform/jobs/feature.ts'
import { feature as mail } from '#shared/platform/mail/feature.ts'
import { feature as secrets } from '#shared/platform/secrets/feature.ts'

/** Every `feature.ts` of the three floors, in the order of `shared/README.md`. */
const features: readonly Feature[] = [
  ...[database, secrets, blobs, jobQueue, due, events, mail],
  ...[people, operators, roles, workspaces, types, records, notifications],
  ...[drive, functions, messages, queues, accounting, calendar, payments, forms, flows, webhooks],
]

const collect = <T>(part: (feature: Feature) => readonly T[] | undefined): readonly T[] => features.flatMap((one) => part(one) ?? [])

/** All declared jobs. A release creates their queues; each has exactly one handler in `workers/handlers.ts`. */
export const jobs = collect(({ jobs = {} }) => Object.values(jobs))

/** Clean-ups of old data and repairs after processes that died. */
export const maintenance = collect((feature) => feature.maintenance)

/** The due kind of all maintenance tasks. */
export const maintenanceKind = defineMaintenanceKind(maintenance)

export const dueKinds = [maintenanceKind, ...collect((feature) => feature.dueKinds)]

/** The jobs that receive events, by subscriber. Features that announce events do not name the subscribers. */
export const subscriptions: Subscriptions = Object.assign({}, ...collect(({ subscriptions = {} }) => [subscriptions]))

/** The types of events that the list of a workspace holds. */
export const eventFamilies = collect(({ events }) => events)

/** All SDK methods that functions can call (docs/contract/functions.md#sdk). */
export const sdkMethods = collect((feature) => feature.sdkMethods)

/**
 * The guards by record type. They are part of the services, and the functions of core/records call them, so that routes, batches, the SDK
 * and flow blocks meet the same refusal without a dependency of records on features.
 */
export const guards: RecordGuards<Scope> = Map.groupBy(
  collect((feature) => feature.guards),
  ({ type }) => type,
)

/** All columns whose values are sealed under SECRET_KEY. A rotation reseals them. */
export const sealedColumns = collect(({ sealed }) => sealed)

export const metrics = collect(({ metrics }) => (metrics ? [metrics] : []))
