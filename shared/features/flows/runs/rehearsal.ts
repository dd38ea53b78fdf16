import { definitionParts } from '#shared/features/flows/definitions/definition.ts'
import { rehearsalLimits } from '#shared/features/flows/limits.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** What is rehearsed: the flow as it is saved, or as it would be with this definition. */
export const rehearsalInput = schema(
  t.Object({
    runs: t.Integer({
      minimum: 1,
      maximum: rehearsalLimits.runs,
      default: rehearsalLimits.runs,
      description: 'How many of the newest ended runs are played again.',
    }),
    ...definitionParts,
  }),
)

const values = (description: string) => t.Record(t.String(), t.Unknown(), { description })
const object_type = t.String({ description: 'Key of the record type.' })

/** What one run would do. */
const rehearsedRun = t.Object(
  {
    run_id: t.String({ format: 'uuid', description: 'The run whose trigger was played.' }),
    status: t.Enum(['ok', 'failed']),
    created: t.Array(t.Object({ id: t.String(), object_type, values: values('A number of a series is not taken: it is null.') })),
    changed: t.Array(
      t.Object({
        object_type,
        record_id: t.String(),
        before: values('As it was, of the keys that change.'),
        after: values('As it would be.'),
      }),
    ),
    messages: t.Array(t.Object({ node_id: t.String(), to: nullable(t.String()), subject: nullable(t.String()), skipped: t.Boolean() })),
    would_call: t.Array(t.String(), { description: 'Blocks that would call out or run a function with what no recorded step was given.' }),
    error: nullable(t.String({ description: 'Why it would fail.' })),
  },
  { title: 'RehearsedRun' },
)
export type RehearsedRun = TypeOf<ReturnType<typeof schema<typeof rehearsedRun>>>

/** What a rehearsal answers: what each run would do, none of which has been done. */
export const rehearsalResult = schema(t.Object({ runs: t.Array(rehearsedRun) }, { title: 'FlowRehearsal' }))
