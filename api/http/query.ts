import { problem } from '#shared/kernel/errors.ts'
import { isCleanText } from '#shared/kernel/json.ts'
import type { Schema } from '#shared/kernel/schema.ts'

type Raw = Readonly<Record<string, string | string[] | undefined>>

/** Reads a query string by its schema: text becomes the whole numbers and booleans that the schema names. Names that it lacks are ignored. */
export function readQuery<Query>(raw: Raw, schema: Schema<Query>): Query {
  const properties = (schema.json as { properties?: Record<string, { type?: string }> }).properties ?? {}
  const query: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const value = raw[name]
    if (value === undefined) continue
    if (Array.isArray(value)) throw problem('VALIDATION_ERROR', `${name} must be given once`)
    if (!isCleanText(value)) throw problem('VALIDATION_ERROR', `${name} holds a NUL character or a lone surrogate`)
    query[name] = (readers[property.type ?? ''] ?? asText)(value)
  }
  return schema.parse(query)
}

const asText = (value: string): unknown => value

const readers: Readonly<Record<string, (value: string) => unknown>> = {
  integer: (value) => (/^-?\d{1,15}$/.test(value) ? Number(value) : value),
  boolean: (value) => (value === 'true' ? true : value === 'false' ? false : value),
}
