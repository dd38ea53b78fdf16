import { logLines, runSteps } from '#shared/core/automation/schemas.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Endings of a run. `interrupted`: the run's process ended unexpectedly, or its worker stopped. */
export const runEndings = ['returned', 'threw', 'timed_out', 'out_of_memory', 'interrupted'] as const

const parts = {
  id: uuid,
  function_id: uuid,
  version: t.Integer({ description: 'Version of the source that ran.' }),
  parent_id: nullable(t.String({ format: 'uuid', description: 'Id of the run that invoked this one; null when none did.' })),
  actor_id: nullable(
    t.String({
      format: 'uuid',
      description: 'Id of the caller with whose rights the function ran; null for the visitor and the platform.',
    }),
  ),
  actor_type: t.String({ description: 'user, service, anonymous or system.' }),
  request_id: t.String(),
  ending: t.Enum([...runEndings]),
  error: t.Optional(
    t.String({
      description: 'Absent when the function returned. Like logs, shown to the caller of the run and to those who may change the function.',
    }),
  ),
  result_bytes: t.Integer({ description: 'Size of the result as JSON; the result is not stored.' }),
  duration_ms: t.Integer(),
  finished_at: instant,
}

/** A run in lists. */
const listedRun = t.Object(parts, { title: 'FunctionRunSummary' })

/** A run with all stored data; runs are kept for 30 days. */
export const functionRunView = schema(
  t.Object({ ...parts, logs: t.Optional(logLines), steps: runSteps }, { title: 'FunctionRun', description: 'One run of a function.' }),
)
export type FunctionRunView = TypeOf<typeof functionRunView>

export const functionRunPage = schema(
  t.Object({
    runs: t.Array(listedRun),
    next_cursor: nullable(t.String({ description: 'Cursor of the next page; null on the last page.' })),
  }),
)
export type FunctionRunPage = TypeOf<typeof functionRunPage>

export const functionRunQuery = schema(t.Object(cursorParameters()))
export type FunctionRunQuery = TypeOf<typeof functionRunQuery>
