import { flowDraftView } from '#shared/features/flows/definitions/draft.ts'
import { rehearsalResult } from '#shared/features/flows/runs/rehearsal.ts'
import { scheduleKind } from '#shared/features/flows/store.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { eventDelivery } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

const uuid = t.String({ format: 'uuid' })
const nothing = schema(t.Null())

/** Makes runs of what happened to records, or to calendar events, for the flows that listened. */
export const startRunsOnEventsJob = defineJob({
  name: 'flows.heard',
  kind: 'flows.heard',
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

/** Makes the run of a schedule that is due, and sets when it is due next. */
export const startScheduledRunJob = defineJob({
  name: 'flows.schedule',
  kind: 'flows.schedule',
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

/** Goes on with a run as far as it can go. */
export const continueRunJob = defineJob({
  name: 'flows.continue',
  kind: 'flows.continue',
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

/** Calls out for a step of a run. One whose worker died is called again, under the same Idempotency-Key. */
export const callOutJob = defineJob({
  name: 'flows.call',
  kind: 'flows.call',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 100,
  slotsPerWorkspace: 20,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid, turn: t.Integer() })),
  result: nothing,
})

/** Plays runs again and takes it all back. */
export const rehearseFlowJob = defineJob({
  name: 'flows.rehearse',
  kind: 'flows.rehearse',
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

/** Asks an assistant for a flow. What it says is the answer, whatever it is, so it is asked once. */
export const generateFlowJob = defineJob({
  name: 'flows.generate',
  kind: 'flows.generate',
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

/** The schedules of flows. One that falls due sets its next time itself, by the flow as it is then. */
export const flowScheduleDue = defineDue({
  name: scheduleKind,
  job: startScheduledRunJob,
  payload: ({ workspaceId, subject, at }) => ({ workspaceId: workspaceId ?? '', flowId: subject, at }),
})

/** Runs that go on at a time. */
export const flowWaitDue = defineDue({
  name: 'flows.wait',
  job: continueRunJob,
  payload: ({ workspaceId, subject }) => ({ workspaceId: workspaceId ?? '', runId: subject }),
})
