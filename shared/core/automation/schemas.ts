import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const level = t.Enum(['log', 'info', 'warn', 'error'])

/** Lines a run printed, and the SDK calls it made. */
export const logLines = t.Array(t.Object({ level, msg: t.String() }), { description: 'What the run printed.' })
export const runSteps = t.Array(t.Object({ method: t.String({ description: 'Such as records.create.' }), is_error: t.Boolean() }), {
  description: 'The SDK calls, in their order.',
})

/** Result of a run (docs/contract/functions.md#invocation-result). */
export const invocation = schema(
  t.Object(
    {
      result: t.Unknown({ description: 'What handler returned, as JSON; null when it returned nothing.' }),
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
  t.Object({ input: t.Optional(t.Unknown({ description: 'The argument of handler: any JSON; null by default.' })) }),
)

/** One kind of block in the block catalogue's response. */
export const blockView = t.Object(
  {
    type: t.String(),
    label: t.String(),
    description: t.String(),
    is_trigger: t.Boolean(),
    handles: t.Array(t.String(), { description: 'Its outputs.' }),
    settings: t.Record(t.String(), t.Unknown(), { description: 'JSON Schema of its config.' }),
    required: t.Array(t.String(), { description: 'Settings without which the flow cannot be enabled.' }),
    output: t.Record(t.String(), t.Unknown(), { description: 'JSON Schema of {{steps.<id>}}; of a trigger an example of {{trigger}}.' }),
    app: t.Union([t.String(), t.Null()], { description: 'The app that must be switched on.' }),
  },
  { title: 'FlowBlockKind' },
)
export type BlockView = TypeOf<ReturnType<typeof schema<typeof blockView>>>
