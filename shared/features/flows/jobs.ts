import { flowDraftView } from '#shared/features/flows/definitions/schemas.ts'
import { rehearsalResult } from '#shared/features/flows/runs/rehearsal-schemas.ts'
import { scheduleKind } from '#shared/features/flows/store.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { eventDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const nothing = schema(t.Null())

/** Creates runs from events of records and calendars, for the flows that subscribed. */
export const startRunsOnEventsJob = defineJob({
  name: 'flows.start',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 8,
  slotsPerWorkspace: 4,
  retry: retryPolicies.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: eventDelivery,
  result: nothing,
})

/** Creates the run of a due schedule and sets its next due time. */
export const startScheduledRunJob = defineJob({
  name: 'flows.schedule',
  work: 'due',
  app: null,
  pool: 'flows',
  concurrency: 8,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, flowId: uuid, at: t.String() })),
  result: nothing,
})

/** Executes a run until it ends, waits or is rescheduled. */
export const continueRunJob = defineJob({
  name: 'flows.continue',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 12,
  slotsPerWorkspace: 8,
  retry: retryPolicies.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid })),
  result: nothing,
})

/** Makes the outside call of a step. Repeated under the same Idempotency-Key when its worker dies. */
export const callOutJob = defineJob({
  name: 'flows.call',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 100,
  slotsPerWorkspace: 20,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid, revision: t.Integer() })),
  result: nothing,
})

/** Executes a flow again with the triggers of earlier runs, and rolls everything back. */
export const rehearseFlowJob = defineJob({
  name: 'flows.rehearse',
  work: 'request',
  app: null,
  pool: 'flows',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retryPolicies.once,
  timeoutSeconds: 90,
  tracked: true,
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
  name: 'flows.generate',
  work: 'request',
  app: null,
  pool: 'flows',
  concurrency: 20,
  slotsPerWorkspace: 4,
  retry: retryPolicies.once,
  timeoutSeconds: 75,
  tracked: true,
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
