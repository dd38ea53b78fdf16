import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import type { RecordGuard } from '#shared/core/scope/record-guard.ts'
import type { Scope, Services } from '#shared/core/scope/scope.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { CleanupServices } from '#shared/platform/db/old-rows.ts'
import type { DueKind } from '#shared/platform/due/due-kind.ts'
import type { Subscriptions } from '#shared/platform/events/subscription.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import type { Metrics } from '#shared/platform/kernel/metrics.ts'
import type { SealedColumn } from '#shared/platform/secrets/sealed-store.ts'

/**
 * The manifest of a folder of `shared`: the export of its `feature.ts`, which `shared/features.ts` lists. The folders left of this one in
 * the order of shared/README.md may not import this type; their manifests have the same shape.
 */
export interface Feature {
  /** Jobs by the name of their handler in `handlers.ts` of the same folder of `workers`. */
  readonly jobs?: Readonly<Record<string, AnyJob>>
  readonly dueKinds?: readonly DueKind<unknown>[]
  readonly maintenance?: readonly MaintenanceTask<Services & CleanupServices>[]
  readonly subscriptions?: Subscriptions
  readonly events?: readonly EventFamily[]
  readonly sdkMethods?: readonly SdkMethod[]
  readonly guards?: readonly RecordGuard<Scope>[]
  readonly metrics?: Metrics<Executor>
  readonly sealed?: readonly SealedColumn[]
}
