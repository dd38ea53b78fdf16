import { definitionParts } from '#shared/features/flows/definitions/schemas.ts'
import { rehearsalLimits } from '#shared/features/flows/limits.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Input of a rehearsal: the number of runs, and optionally a definition to rehearse instead of the saved one. */
export const rehearsalInput = schema(
  t.Object({
    runs: t.Integer({
      minimum: 1,
      maximum: rehearsalLimits.runs,
      default: rehearsalLimits.runs,
      description: 'How many of the newest ended runs are rehearsed.',
    }),
    ...definitionParts,
  }),
)

const values = (description: string) => t.Record(t.String(), t.Unknown(), { description })
const object_type = t.String({ description: 'Key of the record type.' })

/** Effects that one run would have. */
const rehearsedRun = t.Object(
  {
    run_id: t.String({ format: 'uuid', description: 'The run whose trigger was used.' }),
    status: t.Enum(['ok', 'failed']),
    created: t.Array(t.Object({ id: t.String(), object_type, values: values('No auto-numbers are issued: their fields are null.') })),
    changed: t.Array(
      t.Object({
        object_type,
        record_id: t.String(),
        before: values('The present values of the fields that would change.'),
        after: values('The values that these fields would have.'),
      }),
    ),
    deleted: t.Array(t.Object({ object_type, record_id: t.String() })),
    messages: t.Array(t.Object({ node_id: t.String(), to: nullable(t.String()), subject: nullable(t.String()), skipped: t.Boolean() })),
    would_call: t.Array(t.String(), {
      description: 'Blocks that would call out or run a function with an input that no recorded step had.',
    }),
    error: nullable(t.String({ description: 'Why the run would fail.' })),
  },
  { title: 'RehearsedRun' },
)
export type RehearsedRun = TypeOf<ReturnType<typeof schema<typeof rehearsedRun>>>

/** Answer of a rehearsal: the effects that each run would have; all were rolled back. */
export const rehearsalResult = schema(t.Object({ runs: t.Array(rehearsedRun) }, { title: 'FlowRehearsal' }))
