import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** What can become of a run; the last three are final. */
export const flowRunStatuses = ['queued', 'running', 'ok', 'failed', 'cancelled'] as const
export type FlowRunStatus = (typeof flowRunStatuses)[number]

const uuid = t.String({ format: 'uuid' })
const instant = (description: string) => nullable(t.String({ format: 'date-time', description }))
const error = t.Optional(
  t.String({
    description: 'Of one that failed: its code and block, such as `FORBIDDEN at n3`; in full words for whoever may change the flow.',
  }),
)

const parts = {
  id: uuid,
  flow_id: uuid,
  flow_name: t.String(),
  version: t.Integer({ description: 'Which definition it plays.' }),
  status: t.Enum([...flowRunStatuses]),
  error,
  trigger: t.Object(
    {
      kind: t.String(),
      event: nullable(t.String({ description: 'What happened; of a schedule the instant that was due.' })),
      object_type: nullable(t.String({ description: 'Key of the record type, or of the calendar.' })),
      record_id: nullable(t.String({ description: 'The record, or the calendar event.' })),
    },
    { description: 'What set it off.' },
  ),
  retry_of: nullable(t.String({ format: 'uuid', description: 'The run that it goes on with.' })),
  created_at: t.String({ format: 'date-time' }),
  started_at: instant('When its first step began; null while it is queued.'),
  finished_at: instant('Null while it goes on.'),
}

const step = t.Object(
  {
    node_id: t.String(),
    node_type: t.String(),
    iteration: t.String({ description: 'The path through the loops around it, from 0: empty outside of any, 3, 3.0.' }),
    status: t.Enum(['ok', 'failed']),
    output: t.Optional(t.Unknown({ description: 'What it gave, as far as the caller may see it.' })),
    output_cut: t.Optional(
      t.Boolean({
        description: 'True where output is the first 64 KB of a longer one, as text; empty where the outputs before it have 8 MB together.',
      }),
    ),
    error,
    duration_ms: t.Integer(),
    started_at: t.String({ format: 'date-time' }),
  },
  { title: 'FlowStep' },
)
export type FlowStepView = TypeOf<ReturnType<typeof schema<typeof step>>>

const summary = t.Object(parts, { title: 'FlowRunSummary' })
export type FlowRunSummary = TypeOf<ReturnType<typeof schema<typeof summary>>>

/** Runs of one flow. */
export const runList = schema(t.Array(summary))

/** A page of the runs of all flows. */
export const flowRunPage = schema(
  t.Object({ runs: t.Array(summary), next_cursor: nullable(t.String({ description: 'Null on the last page.' })) }),
)
export type FlowRunPage = TypeOf<typeof flowRunPage>

/** A run with what it did. */
export const flowRunView = schema(t.Object({ ...parts, steps: t.Array(step) }, { title: 'FlowRun', description: 'One run of a flow.' }))
export type FlowRunView = TypeOf<typeof flowRunView>

/** Which runs of all flows are asked for. */
export const flowRunQuery = schema(
  t.Object({
    status: t.Optional(t.Enum([...flowRunStatuses])),
    flow: t.Optional(t.String({ format: 'uuid', description: 'Id of a flow, also of one that was deleted.' })),
    from: t.Optional(t.String({ description: 'RFC 3339, or YYYY-MM-DD for its first moment in UTC: runs made then or later.' })),
    limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }),
    cursor: t.Optional(t.String({ description: 'next_cursor of the previous page.' })),
  }),
)
export type FlowRunQuery = TypeOf<typeof flowRunQuery>

/** What of a failure is kept with a run or step. */
export interface RunError {
  readonly code: string
  readonly message: string
  readonly node_id: string | null
}

/** What the open runs of a flow end with that is deleted. */
export const flowDeletedError: RunError = Object.freeze({ code: 'NOT_FOUND', message: 'The flow was deleted', node_id: null })

/** Who may see what set a run off, beside the record that it names: kept with the run, and read by no reference. */
export interface TriggerVisibility {
  /** Of a calendar event as it was announced. */
  readonly calendar_id?: string
  readonly visibility?: 'default' | 'private'
  readonly guest_ids?: readonly string[]
  /** Of a run by hand: who gave the input. */
  readonly starter_id?: string | null
  /** The queue whose stage set it off, with the item's id. */
  readonly queue_id?: string
  readonly item_id?: string
}

/** What references to the trigger read: `{{trigger.record}}` and the others that there are. */
export interface TriggerInput {
  readonly event?: string
  readonly record?: Readonly<Record<string, unknown>>
  readonly record_id?: string
  readonly input?: unknown
  readonly calendar_event?: Readonly<Record<string, unknown>>
}
