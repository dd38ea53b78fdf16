import { flowDraftView } from '#shared/features/flows/definitions/schemas.ts'
import { failCancelledRun, giveUpRun } from '#shared/features/flows/execution/store.ts'
import { rehearsalResult } from '#shared/features/flows/runs/rehearsal-schemas.ts'
import { scheduleKind } from '#shared/features/flows/store.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { eventDelivery, visibleOfDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import type { StoredProblem } from '#shared/platform/kernel/errors.ts'
import { nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const errorOfRun = ({ code, message }: StoredProblem): string => JSON.stringify({ code, message, node_id: null })

const flowJob = { app: null, pool: 'flows' } as const

/** Jobs without a waiting caller. */
const backgroundJob = { ...flowJob, work: 'step', retry: retryPolicies.transient, tracked: false, result: schema(t.Null()) } as const

/** Jobs that a caller waits for. They are not retried. */
const requestJob = { ...flowJob, work: 'request', retry: retryPolicies.once, tracked: true } as const

/** Creates runs from events of records and calendars, for the flows that subscribed. */
export const startRunsOnEventsJob = defineJob({
  ...backgroundJob,
  name: 'flows.start',
  visible: visibleOfDelivery,
  concurrency: 8,
  slotsPerWorkspace: 4,
  timeoutSeconds: 120,
  payload: eventDelivery,
})

/** Creates the run of a due schedule and sets its next due time. */
export const startScheduledRunJob = defineJob({
  ...backgroundJob,
  name: 'flows.schedule',
  visible: ['workspaceId', 'flowId', 'at'],
  cancel: 'refused',
  work: 'due',
  concurrency: 8,
  timeoutSeconds: 60,
  payload: schema(t.Object({ workspaceId: uuid, flowId: uuid, at: t.String() })),
})

/** Executes a run until it ends, waits or is rescheduled. */
export const continueRunJob = defineJob({
  ...backgroundJob,
  name: 'flows.continue',
  visible: ['workspaceId', 'runId'],
  cancel: {
    record: async (tx, { workspaceId, runId }, error, now) => {
      await tx.query(failCancelledRun({ workspaceId, id: runId, error: errorOfRun(error), now }))
    },
  },
  concurrency: 12,
  slotsPerWorkspace: 8,
  timeoutSeconds: 120,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid })),
})

/** Makes the outside call of a step. Repeated under the same Idempotency-Key when its worker dies. */
export const callOutJob = defineJob({
  ...backgroundJob,
  name: 'flows.call',
  visible: ['workspaceId', 'runId', 'revision'],
  cancel: {
    record: async (tx, { workspaceId, runId, revision }, error, now) => {
      await tx.query(giveUpRun({ workspaceId, id: runId, revision, error: errorOfRun(error), now }))
    },
  },
  concurrency: 100,
  slotsPerWorkspace: 20,
  timeoutSeconds: 60,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid, revision: t.Integer() })),
})

/** Executes a flow again with the triggers of earlier runs, and rolls everything back. */
export const rehearseFlowJob = defineJob({
  ...requestJob,
  name: 'flows.rehearse',
  visible: ['flowId', 'runs'],
  concurrency: 2,
  slotsPerWorkspace: 1,
  timeoutSeconds: 90,
  payload: schema(
    t.Object({
      flowId: uuid,
      runs: t.Integer(),
      definition: nullable(t.Object({ nodes: t.Array(t.Any()), edges: t.Array(t.Any()), context: t.Record(t.String(), t.String()) })),
    }),
  ),
  result: rehearsalResult,
})

/** Asks an assistant for a flow. A failure of the assistant is the result, so there is no retry. */
export const generateFlowJob = defineJob({
  ...requestJob,
  name: 'flows.generate',
  concurrency: 20,
  slotsPerWorkspace: 4,
  timeoutSeconds: 75,
  payload: schema(t.Object({ prompt: t.String() })),
  result: flowDraftView,
})

/** Schedules of flows. The job for a due time sets the next due time, by the flow's definition at that moment. */
export const flowScheduleDue = defineDue({
  name: scheduleKind,
  job: startScheduledRunJob,
  payload: ({ workspaceId, subject, at }) => ({ workspaceId: workspaceId ?? '', flowId: subject, at }),
})

/** Runs that wait for a time. */
export const flowWaitDue = defineDue({
  name: 'flows.wait',
  job: continueRunJob,
  payload: ({ workspaceId, subject }) => ({ workspaceId: workspaceId ?? '', runId: subject }),
})
