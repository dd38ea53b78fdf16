import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isUuid } from '#shared/platform/kernel/ids.ts'

type Json = Readonly<Record<string, unknown>>
type Components = Readonly<Record<string, object>>

const compiled = new Map<string, ValidateFunction>()
const checkers = new WeakMap<Components, Ajv2020>()

/**
 * A check of values by a schema of an OpenAPI document in which every object is closed: an undeclared field is wrong, unless the schema
 * accepts any. The check returns the faults as text, or undefined. Compiled once per name.
 */
export function compileClosed(name: string, schema: object, components: Components): (value: unknown) => string | undefined {
  const ajv = checkerOf(components)
  const check = compiled.get(name) ?? ajv.compile(closed(schema))
  compiled.set(name, check)
  return (value) => (check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: 'body' }) + undeclared(check))
}

/** Registers the parts of a document under their own addresses, so that each is compiled once. */
function checkerOf(components: Components): Ajv2020 {
  const known = checkers.get(components)
  if (known) return known
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addFormat('uuid', isUuid)
  for (const [part, schema] of Object.entries(components)) {
    ajv.addSchema({ ...closed(schema), $id: addressOf('closed', part) })
    ajv.addSchema({ ...open(schema), $id: addressOf('open', part) })
  }
  checkers.set(components, ajv)
  return ajv
}

const addressOf = (kind: 'closed' | 'open', part: string): string => `kontor:${kind}/${part}`

const undeclared = ({ errors }: ValidateFunction): string => {
  const names = (errors ?? []).flatMap(({ params }) => params.additionalProperty ?? params.unevaluatedProperty ?? [])
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}

const mapValues = (value: object, change: (part: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]))

/** The same schema with every object closed at every depth. Parts of an intersection are closed together. */
function closed(schema: object): Json {
  const { allOf, ...rest } = schema as { allOf?: readonly object[] }
  if (allOf) return { ...closed(rest), allOf: allOf.map(open), unevaluatedProperties: false }
  const inner = open(schema)
  const isShape = 'properties' in inner && !('additionalProperties' in inner) && !('patternProperties' in inner)
  return isShape ? { ...inner, additionalProperties: false } : referTo(inner, 'closed')
}

/** The same, except for the outermost object, which others complete. */
function open(schema: object): Json {
  const parts = mapValues(schema, (part) => (Array.isArray(part) ? part.map(deeper) : deeper(part)))
  const { properties } = schema as { properties?: object }
  return referTo(properties ? { ...parts, properties: mapValues(properties, deeper) } : parts, 'open')
}

const deeper = (part: unknown): unknown => (typeof part === 'object' && part !== null && !Array.isArray(part) ? closed(part) : part)

const referTo = (schema: Json, kind: 'closed' | 'open'): Json =>
  typeof schema.$ref === 'string' ? { ...schema, $ref: addressOf(kind, schema.$ref.split('/').at(-1) ?? '') } : schema
