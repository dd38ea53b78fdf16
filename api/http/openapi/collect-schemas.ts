import { nameFormat } from '#shared/platform/kernel/schema.ts'

/** Part of the document, as JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Collects the schemas of a document. */
export interface Schemas {
  /** The schema as the document holds it: parts with a title or a name become references. */
  readonly reference: (schema: unknown) => JsonObject
  /** The referenced parts, by name. */
  readonly named: () => JsonObject
}

/**
 * Creates a collector. A schema with a `title` becomes a component of that name, and so do the `$defs` of a recursive schema. Throws when
 * two different schemas have one name.
 */
export function collectSchemas(): Schemas {
  const components = new Map<string, unknown>()

  const name = (title: string, body: JsonObject): JsonObject => {
    const key = title.replace(/[^\w.-]/g, '')
    const known = components.get(key)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(body)) throw new Error(`Two schemas have the title ${title}`)
    components.set(key, body)
    return { $ref: `#/components/schemas/${key}` }
  }

  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null) return value
    const { $id, $defs = {}, $ref, ...rest } = portable(plain(value as JsonObject))
    for (const [key, part] of Object.entries($defs as JsonObject)) name(key, convert(part) as JsonObject)
    if (typeof $ref === 'string') return { $ref: `#/components/schemas/${$ref.replace('#/$defs/', '')}` }
    const body: JsonObject = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, convert(part)]))
    return typeof rest.title === 'string' ? name(rest.title, body) : body
  }

  return {
    reference: (schema) => convert(schema) as JsonObject,
    named: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Rewrites `patternProperties` for any key to `additionalProperties`, which more OpenAPI tools support. */
function plain(schema: JsonObject): Record<string, unknown> {
  const { patternProperties, ...rest } = schema
  const anyKey = (patternProperties as JsonObject | undefined)?.['^.*$']
  return anyKey === undefined ? { ...schema } : { ...rest, additionalProperties: anyKey }
}

/** A schema for tools of all languages: no lists of types, no formats of our own, no required keys that have a default. */
function portable(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, properties } = schema
  const hasDefault = (key: string) => (properties as Readonly<Record<string, JsonObject>> | undefined)?.[key]?.default !== undefined
  const parts = Object.entries(schema).flatMap(([key, part]): [string, unknown][] => {
    if (key === 'required' && Array.isArray(part)) return [[key, part.filter((one) => !hasDefault(one))]]
    if (key === 'format' && part === nameFormat) return []
    if (!Array.isArray(type)) return [[key, part]]
    if (key === 'type') return [['anyOf', type.map((one: string) => ({ type: one, ...pick(schema, keywordsOf[one] ?? []) }))]]
    return Object.values(keywordsOf).flat().includes(key) ? [] : [[key, part]]
  })
  return Object.fromEntries(parts)
}

/** Keywords that apply to values of one type. */
const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'minLength', 'maxLength'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
}

const pick = (schema: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])))
