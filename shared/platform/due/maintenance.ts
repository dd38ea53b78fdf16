import type { Executor } from '#shared/platform/db/database.ts'
import { type DueKind, defineDue } from '#shared/platform/due/due-kind.ts'
import { setDueIfUnset } from '#shared/platform/due/due-times.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import type { MaintenanceTask } from '#shared/platform/kernel/maintenance-task.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** The due kind of maintenance tasks. */
export const maintenanceKindName = 'maintenance'

/** Runs a maintenance task. */
export const runMaintenanceJob = defineJob({
  name: 'due.maintenance',
  visible: ['task'],
  work: 'upkeep',
  app: null,
  pool: 'schedule',
  concurrency: 4,
  retry: retryPolicies.once,
  // Building an index on very many records may take hours.
  timeoutSeconds: 6 * 3_600,
  tracked: false,
  // Its tasks complete the operations of processes that died and admit jobs at gates.
  pausable: false,
  payload: schema(t.Object({ task: t.String() })),
  result: schema(t.Null()),
})

/** The due kind of maintenance tasks, and the tasks. */
export interface MaintenanceKind extends DueKind<{ task: string }> {
  readonly tasks: readonly Pick<MaintenanceTask<never>, 'name' | 'everySeconds'>[]
}

/**
 * Defines the due kind of maintenance tasks; each task recurs at its own interval. A task that is no longer in the list is not scheduled
 * again.
 */
export function defineMaintenanceKind(tasks: MaintenanceKind['tasks']): MaintenanceKind {
  const periods = new Map(tasks.map(({ name, everySeconds }) => [name, everySeconds * 1_000]))
  const kind = defineDue({
    name: maintenanceKindName,
    job: runMaintenanceJob,
    payload: ({ subject }) => ({ task: subject }),
    nextTime: ({ subject }, now) => {
      const periodMs = periods.get(subject)
      return periodMs === undefined ? undefined : new Date(now.getTime() + periodMs)
    },
  })
  return { ...kind, tasks }
}

/** Schedules maintenance tasks that have no due time yet, after one interval each. */
export async function scheduleMaintenance(db: Executor, kind: MaintenanceKind, now: Date): Promise<void> {
  const times = kind.tasks.map(({ name, everySeconds }) => ({ subject: name, at: new Date(now.getTime() + everySeconds * 1_000) }))
  await setDueIfUnset(db, kind, null, times)
}
