/** Part of the document, as JSON. */
export type Json = Readonly<Record<string, unknown>>

/** The schemas of a document while it is made. */
export interface Schemas {
  /** The schema as it stands in the document: parts that have a title, or a name of their own, become references. */
  readonly refer: (schema: unknown) => Json
  /** The parts that are referred to, by name. */
  readonly named: () => Json
}

/**
 * Gathers schemas. One with a `title` becomes a component of that name, which may not mean two things; so do the `$defs` of a schema that
 * refers to itself.
 */
export function collectSchemas(): Schemas {
  const components = new Map<string, unknown>()

  const name = (title: string, body: Json): Json => {
    const key = title.replace(/[^\w.-]/g, '')
    const known = components.get(key)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(body)) throw new Error(`Two schemas have the title ${title}`)
    components.set(key, body)
    return { $ref: `#/components/schemas/${key}` }
  }

  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (typeof value !== 'object' || value === null) return value
    const { $id, $defs = {}, $ref, ...rest } = plain(value as Json)
    for (const [key, part] of Object.entries($defs as Json)) name(key, convert(part) as Json)
    if (typeof $ref === 'string') return { $ref: `#/components/schemas/${$ref.replace('#/$defs/', '')}` }
    const body: Json = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, convert(part)]))
    return typeof rest.title === 'string' ? name(rest.title, body) : body
  }

  return {
    refer: (schema) => convert(schema) as Json,
    named: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Keys of any spelling are written as OpenAPI tools read them best. */
function plain(schema: Json): Record<string, unknown> {
  const { patternProperties, ...rest } = schema
  const anyKey = (patternProperties as Json | undefined)?.['^.*$']
  return anyKey === undefined ? { ...schema } : { ...rest, additionalProperties: anyKey }
}
