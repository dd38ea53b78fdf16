import { _, Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Static, type TSchema, Type } from 'typebox'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isEmail } from '#shared/platform/kernel/values/email.ts'
import { isJsonObject } from '#shared/platform/kernel/values/json-schema.ts'
import { withDoubles } from '#shared/platform/kernel/values/schema-numbers.ts'

export { Type as t }

const ajv = new Ajv2020({
  allErrors: false,
  strict: true,
  strictTypes: false,
  coerceTypes: false,
  useDefaults: true,
  ownProperties: true,
  // Adds the violated schema to each error: `explain` reads its description and its choices.
  verbose: true,
})
addFormats.default(ajv)
ajv.addFormat('uuid', isUuid)
ajv.addFormat('email', isEmail)

/**
 * The format of names. The API's description omits it, since other tools do not know it: the schema's pattern and description say what they
 * can check.
 */
export const nameFormat = 'name'
ajv.addFormat(nameFormat, /^[^\p{Cc}\p{Zl}\p{Zp}]*?[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800][^\p{Cc}\p{Zl}\p{Zp}]*$/u)
/** Refuses an exact number where a schema asks for an object: `parseJson` makes `JSON.rawJSON` of it, an object to Ajv. */
const isNoNumber = 'x-no-number'
ajv.addKeyword({ keyword: isNoNumber, code: (context) => context.fail(_`JSON.isRawJSON(${context.data})`) })
for (const keyword of ['x-source', 'x-changes-by-itself', 'x-hint']) ajv.addKeyword(keyword)

/** A JSON Schema with its TypeScript type: one value validates, types and documents. */
export interface Schema<T> {
  readonly json: TSchema
  /** Returns the value as T, or throws VALIDATION_ERROR that names the offending path below `where` and the rule. */
  readonly parse: (value: unknown, where?: string) => T
}
export type TypeOf<S> = S extends Schema<infer T> ? T : never

/**
 * Creates a Schema from a TypeBox value. It is compiled on first use. `parse` makes plain numbers of exact ones where the schema asks for a
 * number.
 */
export function schema<const S extends TSchema>(json: S): Schema<Static<S>> {
  let validate: ValidateFunction | undefined
  return Object.freeze({
    json,
    parse(value: unknown, where = '') {
      validate ??= ajv.compile(withNumbersRefused(json) as TSchema)
      if (validate(value)) return value as Static<S>
      const plain = withDoubles(value, json)
      if (plain !== value && validate(plain)) return plain as Static<S>
      throw problem('VALIDATION_ERROR', explain(validate.errors ?? [], where))
    },
  })
}

/** The schema of an id. */
export const uuid = Type.String({ format: 'uuid' })

/** The schema of an RFC 3339 instant. */
export const instant = Type.String({ format: 'date-time' })

/** Keywords whose values are data. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/** A copy of the schema whose objects have the keyword `x-no-number`. */
function withNumbersRefused(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNumbersRefused)
  if (!isJsonObject(schema)) return schema
  const copy = mapValues(schema, (part, key) => {
    if (key === 'properties' && isJsonObject(part)) return mapValues(part, withNumbersRefused)
    return dataKeywords.has(key) ? part : withNumbersRefused(part)
  })
  return schema.type === 'object' ? { ...copy, [isNoNumber]: true } : copy
}

const mapValues = (object: object, map: (value: unknown, key: string) => unknown) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))

/** The schema of a value that may be null. */
export const nullable = <S extends TSchema>(json: S) => Type.Union([json, Type.Null()])

/**
 * Explains a validation failure. For a tagged union it explains the failure of the alternative that the tag names; for a union with an
 * `x-hint` the hint says what it takes.
 */
function explain(errors: readonly ErrorObject[], where: string): string {
  const union = errors.at(-1)
  const tagged = union?.keyword === 'anyOf' ? tagOf(union) : undefined
  if (!union || !tagged)
    return explainOne(errors.find((error) => error.keyword === 'anyOf' && hintsOf(error).length > 0) ?? errors[0], where)
  const { key, constants, sent } = tagged
  const named = constants.indexOf(sent as string)
  if (named >= 0) return explainOne(errors.find(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${named}/`)) ?? union, where)
  const path = join(pathOf(union.instancePath, where), key)
  return sent === undefined ? `${path} is required` : `${path} must be one of ${constants.join(', ')}`
}

/** The tag of a union: its key, its constants and the sent value; undefined for a union without a tag. */
function tagOf({ schema, data }: ErrorObject): { key: string; constants: string[]; sent: unknown } | undefined {
  if (!isJsonObject(data)) return undefined
  const options = (schema as TSchema[]).map((option) => (option as { properties?: Record<string, { const?: unknown }> }).properties ?? {})
  const key = Object.keys(options[0] ?? {}).find((name) => options.every((option) => typeof option[name]?.const === 'string'))
  if (key === undefined) return undefined
  return { key, constants: options.map((option) => String(option[key]?.const)), sent: data[key] }
}

function explainOne(error: ErrorObject | undefined, where: string): string {
  if (!error) return `${where || 'body'} is not valid`
  const path = pathOf(error.instancePath, where)
  const rule = rules[error.keyword] ?? (() => error.message ?? 'is not valid')
  if (error.keyword === 'required') return `${join(path, error.params.missingProperty)} is required`
  return `${path || 'body'} ${rule(error.params, error)}`
}

const rules: Readonly<Record<string, (params: Record<string, unknown>, error: ErrorObject) => string>> = {
  type: ({ type }, { data }) =>
    JSON.isRawJSON(data) && (type === 'number' || type === 'integer')
      ? 'must be a number of at most 15 digits'
      : `must be ${Array.isArray(type) ? type.join(' or ') : article(String(type))}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).join(', ')}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  minLength: ({ limit }) => `must have at least ${limit} characters`,
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} items`,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  pattern: (_, error) => `must be ${String(error.parentSchema?.description ?? `text like ${error.schema}`)}`,
  format: ({ format }, error) =>
    format === nameFormat
      ? `must be ${String(error.parentSchema?.description)}`
      : `must be a valid ${[format, ...hintsOf(error)].join(': ')}`,
  anyOf: (_, error) => `must be ${hintsOf(error)[0] ?? alternatives(error.schema)}`,
  [isNoNumber]: () => 'must be an object',
  uniqueItems: () => 'must not hold the same item twice',
  additionalProperties: ({ additionalProperty }) => `must not have the key ${additionalProperty}`,
}

/** The `x-hint` of the violated schema, if it has one. */
function hintsOf({ parentSchema }: ErrorObject): readonly string[] {
  const hint = parentSchema?.['x-hint']
  return typeof hint === 'string' ? [hint] : []
}

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)

/** The choices of a union as text for a message: its constants, or types. */
function alternatives(options: unknown): string {
  const texts = (options as TSchema[]).map((option) => {
    const { const: constant, type } = option as { const?: unknown; type?: unknown }
    return constant === undefined ? String(type ?? 'valid') : JSON.stringify(constant)
  })
  return texts.length > 1 ? `one of ${texts.join(', ')}` : (texts[0] ?? 'valid')
}

/** `/lines/2/debit` below `body` reads `lines[2].debit`. */
function pathOf(pointer: string, where: string): string {
  const parts = pointer.split('/').slice(1)
  return parts.reduce((path, part) => join(path, part.replaceAll('~1', '/').replaceAll('~0', '~')), where)
}

function join(path: string, part: unknown): string {
  const name = String(part)
  if (/^\d+$/.test(name)) return `${path}[${name}]`
  return path === '' ? name : `${path}.${name}`
}
