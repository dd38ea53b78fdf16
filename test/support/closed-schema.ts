import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isUuid } from '#shared/kernel/ids.ts'

type Json = Readonly<Record<string, unknown>>
type Components = Readonly<Record<string, object>>

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addFormat('uuid', isUuid)

const compiled = new Map<string, ValidateFunction>()

/**
 * A check of values by a schema of an OpenAPI document in which every object is closed: a field that is not declared is wrong, unless the
 * schema says that it takes any. The check gives what is wrong as text, or undefined. Compiled once per name.
 */
export function compileClosed(name: string, schema: object, components: Components): (value: unknown) => string | undefined {
  let validate = compiled.get(name)
  if (!validate) {
    validate = ajv.compile({ ...closed(schema), components: { schemas: closedAll(components), open: openAll(components) } })
    compiled.set(name, validate)
  }
  const check = validate
  return (value) => (check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: 'body' }) + undeclared(check))
}

const undeclared = ({ errors }: ValidateFunction): string => {
  const names = (errors ?? []).flatMap(({ params }) => params.additionalProperty ?? params.unevaluatedProperty ?? [])
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}

const closedAll = (components: Components): Json => mapValues(components, (part) => closed(part as object))
const openAll = (components: Components): Json => mapValues(components, (part) => open(part as object))

const mapValues = (value: object, change: (part: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]))

/** The same schema with every object closed, down to the last. Parts of an intersection are closed together. */
function closed(schema: object): Json {
  const { allOf, ...rest } = schema as { allOf?: readonly object[] }
  if (allOf) return { ...closed(rest), allOf: allOf.map(open), unevaluatedProperties: false }
  const inner = open(schema)
  const isShape = 'properties' in inner && !('additionalProperties' in inner) && !('patternProperties' in inner)
  return isShape ? { ...inner, additionalProperties: false } : referTo(inner, 'schemas')
}

/** The same, but for the outermost object, which others complete. */
function open(schema: object): Json {
  const parts = mapValues(schema, (part) => (Array.isArray(part) ? part.map(deeper) : deeper(part)))
  const { properties } = schema as { properties?: object }
  return referTo(properties ? { ...parts, properties: mapValues(properties, deeper) } : parts, 'open')
}

const deeper = (part: unknown): unknown => (typeof part === 'object' && part !== null && !Array.isArray(part) ? closed(part) : part)

const referTo = (schema: Json, kind: 'schemas' | 'open'): Json =>
  typeof schema.$ref === 'string' ? { ...schema, $ref: `#/components/${kind}/${schema.$ref.split('/').at(-1)}` } : schema
