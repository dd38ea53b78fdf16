import { draft } from '#shared/features/flows/definitions/draft.ts'
import { rehearsal } from '#shared/features/flows/runs/rehearsal.ts'
import { scheduleKind } from '#shared/features/flows/store.ts'
import { defineDue } from '#shared/platform/due/due-kind.ts'
import { heardChanges } from '#shared/platform/events/event-delivery.ts'
import { defineJob, retry } from '#shared/platform/jobs/job.ts'
import { nullable, schema, t } from '#shared/platform/kernel/schema.ts'

const uuid = t.String({ format: 'uuid' })
const nothing = schema(t.Null())

/** Makes runs of what happened to records, or to calendar events, for the flows that listened. */
export const heardEvents = defineJob({
  name: 'flows.heard',
  kind: 'flows.heard',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 8,
  slotsPerWorkspace: 4,
  retry: retry.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: heardChanges,
  result: nothing,
})

/** Makes the run of a schedule that is due, and sets when it is due next. */
export const scheduleRun = defineJob({
  name: 'flows.schedule',
  kind: 'flows.schedule',
  work: 'due',
  app: null,
  pool: 'flows',
  concurrency: 8,
  retry: retry.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, flowId: uuid, at: t.String() })),
  result: nothing,
})

/** Goes on with a run as far as it can go. */
export const continueRun = defineJob({
  name: 'flows.continue',
  kind: 'flows.continue',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 12,
  slotsPerWorkspace: 8,
  retry: retry.transient,
  timeoutSeconds: 120,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid })),
  result: nothing,
})

/** Calls out for a step of a run. One whose worker died is called again, under the same Idempotency-Key. */
export const callOut = defineJob({
  name: 'flows.call',
  kind: 'flows.call',
  work: 'step',
  app: null,
  pool: 'flows',
  concurrency: 100,
  slotsPerWorkspace: 20,
  retry: retry.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, runId: uuid, turn: t.Integer() })),
  result: nothing,
})

/** Plays runs again and takes it all back. */
export const rehearseFlow = defineJob({
  name: 'flows.rehearse',
  kind: 'flows.rehearse',
  work: 'request',
  app: null,
  pool: 'flows',
  concurrency: 2,
  slotsPerWorkspace: 1,
  retry: retry.once,
  timeoutSeconds: 90,
  tracked: true,
  payload: schema(
    t.Object({
      flowId: uuid,
      runs: t.Integer(),
      definition: nullable(t.Object({ nodes: t.Array(t.Any()), edges: t.Array(t.Any()), context: t.Record(t.String(), t.String()) })),
    }),
  ),
  result: rehearsal,
})

/** Asks an assistant for a flow. What it says is the answer, whatever it is, so it is asked once. */
export const generateFlow = defineJob({
  name: 'flows.generate',
  kind: 'flows.generate',
  work: 'request',
  app: null,
  pool: 'flows',
  concurrency: 20,
  slotsPerWorkspace: 4,
  retry: retry.once,
  timeoutSeconds: 75,
  tracked: true,
  payload: schema(t.Object({ prompt: t.String() })),
  result: draft,
})

/** The schedules of flows. One that falls due sets its next time itself, by the flow as it is then. */
export const schedulesDue = defineDue({
  name: scheduleKind,
  job: scheduleRun,
  payload: ({ workspaceId, subject, at }) => ({ workspaceId: workspaceId ?? '', flowId: subject, at }),
})

/** Runs that go on at a time. */
export const waitsDue = defineDue({
  name: 'flows.wait',
  job: continueRun,
  payload: ({ workspaceId, subject }) => ({ workspaceId: workspaceId ?? '', runId: subject }),
})
