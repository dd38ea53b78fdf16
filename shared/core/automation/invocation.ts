import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const level = t.Enum(['log', 'info', 'warn', 'error'])

/** Lines a run printed, and the SDK calls it made. */
export const logLines = t.Array(t.Object({ level, msg: t.String() }), { description: 'What the run printed.' })
export const runSteps = t.Array(t.Object({ method: t.String({ description: 'Such as records.create.' }), is_error: t.Boolean() }), {
  description: 'The SDK calls, in their order.',
})

/** Result of a run (document 2, Invocation result). */
export const invocation = schema(
  t.Object(
    {
      result: t.Unknown({ description: 'What handler returned, as JSON; null when nothing.' }),
      logs: logLines,
      steps: runSteps,
      duration_ms: t.Integer(),
      timed_out: t.Boolean(),
      error: t.Optional(t.String({ description: 'Present only when the function threw or did not finish.' })),
    },
    { title: 'Invocation' },
  ),
)
export type Invocation = TypeOf<typeof invocation>

/** Input of an invocation. */
export const invokeInput = schema(
  t.Object({ input: t.Optional(t.Unknown({ description: 'Any JSON; what handler is called with. Absent means null.' })) }),
)
