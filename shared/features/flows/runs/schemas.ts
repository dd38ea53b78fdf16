import type { WaitRequest } from '#shared/core/automation/block.ts'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import type { ChangeRow } from '#shared/core/records/events/show-changes.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Statuses of a run; the last three are final. */
const flowRunStatuses = ['queued', 'running', 'ok', 'failed', 'cancelled'] as const
export type FlowRunStatus = (typeof flowRunStatuses)[number]

const instantOrNull = (description: string) => nullable(t.String({ format: 'date-time', description }))
const error = t.Optional(
  t.String({
    description: 'Of a failure: its code and block, such as `FORBIDDEN at n3`; with the message for callers who may change the flow.',
  }),
)

const parts = {
  id: uuid,
  flow_id: uuid,
  flow_name: t.String(),
  version: t.Integer({ description: 'Version of the definition that the run executes.' }),
  status: t.Enum([...flowRunStatuses]),
  error,
  trigger: t.Object(
    {
      kind: t.String(),
      event: nullable(t.String({ description: 'Name or type of the event; for a schedule the instant that was due.' })),
      object_type: nullable(t.String({ description: 'Key of the record type, or of the calendar.' })),
      record_id: nullable(t.String({ description: 'The record, the calendar event, or the subject of the event.' })),
    },
    { description: 'Event that started the run.' },
  ),
  retry_of: nullable(t.String({ format: 'uuid', description: 'The run that this one continues.' })),
  created_at: instant,
  started_at: instantOrNull('When the first step began; null while the run is queued.'),
  finished_at: instantOrNull('Null while the run is open.'),
}

const step = t.Object(
  {
    node_id: t.String(),
    node_type: t.String(),
    iteration: t.String({ description: 'Indexes in the loops around it, from 0 and outermost first: 3 or 3.0; empty outside of loops.' }),
    status: t.Enum(['ok', 'failed']),
    output: t.Optional(t.Unknown({ description: 'The parts of the output of the step that the caller may see.' })),
    output_cut: t.Optional(
      t.Boolean({
        description:
          'True when output is the first 64 KB of a longer one, as text; empty once the outputs before it reach 8 MB together. Of a record, the ' +
          'longest values are cut.',
      }),
    ),
    error,
    duration_ms: t.Integer(),
    started_at: instant,
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

/** A run with its steps. */
export const flowRunView = schema(t.Object({ ...parts, steps: t.Array(step) }, { title: 'FlowRun', description: 'One run of a flow.' }))
export type FlowRunView = TypeOf<typeof flowRunView>

/** Filters of the list of all runs. */
export const flowRunQuery = schema(
  t.Object({
    status: t.Optional(t.Enum([...flowRunStatuses])),
    flow: t.Optional(t.String({ format: 'uuid', description: 'Id of a flow, also of one that was deleted.' })),
    from: t.Optional(t.String({ description: 'RFC 3339, or YYYY-MM-DD for its first moment in UTC: runs created then or later.' })),
    ...cursorParameters(),
  }),
)
export type FlowRunQuery = TypeOf<typeof flowRunQuery>

const counts = t.Object({
  ok: t.Integer(),
  failed: t.Integer(),
  skipped: t.Integer({ description: 'Events without a run: the condition right behind the trigger did not hold.' }),
})
const flow = { flow_id: uuid, flow_name: t.String() }

/** Counts of a workspace's flows and runs (docs/contract/flows.md#overview). */
export const flowOverview = schema(
  t.Object(
    {
      total: t.Integer(),
      enabled: t.Integer(),
      by_trigger: t.Record(t.String(), t.Integer(), { description: 'Flows by trigger_kind.' }),
      runs_24h: counts,
      runs_7d: counts,
      daily: t.Array(t.Object({ date: t.String(), ok: t.Integer(), failed: t.Integer() }), {
        description: 'The last 14 days in UTC, today last.',
      }),
      failing: t.Array(t.Object({ ...flow, failed: t.Integer() }), { description: 'Of the last 7 days.' }),
      busiest: t.Array(t.Object({ ...flow, runs: t.Integer() }), { description: 'Of the last 7 days.' }),
      upcoming: t.Array(t.Object({ ...flow, next_run_at: instant }), {
        description: 'Scheduled runs, the next first.',
      }),
    },
    { title: 'FlowOverview' },
  ),
)
export type FlowOverview = TypeOf<typeof flowOverview>

/** Failure stored with a run or step. */
export interface RunError {
  readonly code: string
  readonly message: string
  readonly node_id: string | null
}

/** Error of runs that were open when their flow was deleted. */
export const flowDeletedError: RunError = Object.freeze({ code: 'NOT_FOUND', message: 'The flow was deleted', node_id: null })

/** What a parked run waits for, as stored. */
export type ParkedWait = { readonly started_at: string; readonly node_id: string } & (
  | Extract<WaitRequest, { kind: 'time' | 'call' }>
  /** Id of the operation that runs a function, and how often the function was started. */
  | { readonly kind: 'function'; readonly operation: string; readonly tries: number }
)

/**
 * Data that decides who may see a run's trigger, besides the record that the trigger names. It is stored with the run; references cannot
 * read it.
 */
export interface TriggerVisibility {
  /** For a record: the revision of its type when its values were put into the input. Runs of earlier releases have none. */
  readonly type_revision?: number
  /** For a record: keys of the fields that the trigger tested, whose values the run tells of. Runs of earlier releases have none. */
  readonly tested?: readonly string[]
  /** For a calendar event, as it was announced: its calendar, privacy and guests. */
  readonly calendar_id?: string
  readonly visibility?: 'default' | 'private'
  readonly guest_ids?: readonly string[]
  /** For an event of the list: the event as it is stored, and digests of what the flow saw of it (`digestsOf`). */
  readonly event?: ChangeRow
  readonly digests?: readonly string[]
  /** For a manual run: id of the caller who gave the input. */
  readonly starter_id?: string | null
  /** For a run that a queue's stage started: the queue and the item. */
  readonly queue_id?: string
  readonly item_id?: string
}

/** Values behind `{{trigger.…}}` references, such as `{{trigger.record}}`. */
export interface TriggerInput {
  /** Name of the event; of a run that an event of the list started, the event as the editor may read it. */
  readonly event?: string | WorkspaceEvent | undefined
  readonly record?: Readonly<Record<string, unknown>>
  readonly record_id?: string
  /** Of an update: the record as it was, with the fields that the editor may read in it before and after. */
  readonly before?: Readonly<Record<string, unknown>>
  /** Of an update: keys of the fields that changed and that the editor may read. */
  readonly changed?: readonly string[]
  readonly input?: unknown
  readonly calendar_event?: Readonly<Record<string, unknown>>
}
