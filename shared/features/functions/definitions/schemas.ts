import { functionLimits as limits } from '#shared/features/functions/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

const name = nameSchema(limits.nameCharacters)
const description = t.Optional(nullable(t.String({ maxLength: limits.descriptionCharacters, description: 'Up to 500 characters.' })))
const source = t.String({ description: 'JavaScript up to 256 KB that defines a function named `handler` at top level.' })
const timeout = t.Optional(
  t.Unknown({ description: 'Milliseconds, 100 to 30,000; other values are clamped to that range. Default 5,000.' }),
)
const flag = (meaning: string) => t.Optional(nullable(t.Boolean({ description: meaning })))
const http_enabled = flag('Whether anybody may call the function at its public address.')

/** Body that creates a function (docs/contract/functions.md#function-fields). */
export const functionInput = schema(t.Object({ name, source, description, timeout_ms: timeout, http_enabled }, { title: 'FunctionInput' }))

/** Body that changes a function; omitted properties stay unchanged. */
export const functionChange = schema(
  t.Object(
    {
      name: t.Optional(name),
      source: t.Optional(source),
      description,
      timeout_ms: timeout,
      enabled: flag('A function that is not enabled refuses to run.'),
      http_enabled,
    },
    { title: 'FunctionChange' },
  ),
)

const parts = {
  id: uuid,
  name: t.String(),
  description: t.String(),
  timeout_ms: t.Integer(),
  enabled: t.Boolean(),
  http_enabled: t.Boolean(),
  author_id: t.String({ format: 'uuid', description: 'Id of the user who last changed the source.' }),
  version: t.Integer({ description: 'Number of the current source, counted from 1.' }),
  created_at: instant,
  updated_at: instant,
}

/** A function in lists, without its source. */
export const functionSummary = schema(t.Object(parts, { title: 'FunctionSummary' }))
export type FunctionSummary = TypeOf<typeof functionSummary>

/** A function with its source. */
export const functionView = schema(
  t.Object({ ...parts, source: t.String() }, { title: 'WorkspaceFunction', description: 'A small JavaScript program of a workspace.' }),
)
export type FunctionView = TypeOf<typeof functionView>

const versionParts = {
  version: t.Integer(),
  author_id: uuid,
  source_bytes: t.Integer(),
  created_at: instant,
}

/** A version of a function's source: in lists, and with its text. */
export const functionVersionSummary = schema(t.Object(versionParts, { title: 'FunctionVersionSummary' }))
export type FunctionVersionSummary = TypeOf<typeof functionVersionSummary>
export const functionVersionView = schema(t.Object({ ...versionParts, source: t.String() }, { title: 'FunctionVersion' }))
export type FunctionVersionView = TypeOf<typeof functionVersionView>

/** Values to set, as sent to the worker that checks the source; absent values stay unchanged. */
export const functionValues = t.Object({
  name: t.Optional(t.String()),
  source: t.Optional(t.String()),
  description: t.Optional(t.String()),
  timeout_ms: t.Optional(t.Integer()),
  enabled: t.Optional(t.Boolean()),
  http_enabled: t.Optional(t.Boolean()),
})
export type FunctionValues = TypeOf<ReturnType<typeof schema<typeof functionValues>>>

/**
 * Values of a body. null empties the description and sets the timeout to its default; for other keys null counts as absent. Throws
 * VALIDATION_ERROR.
 */
export function functionValuesOf(body: TypeOf<typeof functionChange>): FunctionValues {
  const { name, source, description, timeout_ms, enabled, http_enabled } = body
  if (source !== undefined && Buffer.byteLength(source) > limits.sourceBytes) {
    throw problem('VALIDATION_ERROR', 'source must have at most 256 KB')
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(source === undefined ? {} : { source }),
    ...(description === undefined ? {} : { description: description ?? '' }),
    ...(timeout_ms === undefined ? {} : { timeout_ms: timeoutOf(timeout_ms) }),
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(typeof http_enabled === 'boolean' ? { http_enabled } : {}),
  }
}

/** Clamps a time limit in milliseconds to its range (docs/contract/functions.md#function-fields). */
function timeoutOf(value: unknown): number {
  if (value === null) return limits.defaultTimeoutMs
  const text = jsonNumberText(value)
  if (text === undefined) throw problem('VALIDATION_ERROR', 'timeout_ms must be a number')
  return Math.min(limits.longestTimeoutMs, Math.max(limits.shortestTimeoutMs, Math.round(Number(text))))
}
