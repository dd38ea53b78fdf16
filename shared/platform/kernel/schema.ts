import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Static, type TSchema, Type } from 'typebox'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isEmail } from '#shared/platform/kernel/values/email.ts'

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
ajv.addFormat(nameFormat, /^[^\p{Cc}\p{Zl}\p{Zp}]*?[^\p{Cc}\p{Z}][^\p{Cc}\p{Zl}\p{Zp}]*$/u)
for (const keyword of ['x-source', 'x-changes-by-itself', 'x-hint']) ajv.addKeyword(keyword)

/** A JSON Schema with its TypeScript type: one value validates, types and documents. */
export interface Schema<T> {
  readonly json: TSchema
  /** Returns the value as T, or throws VALIDATION_ERROR that names the offending path below `where` and the rule. */
  readonly parse: (value: unknown, where?: string) => T
}
export type TypeOf<S> = S extends Schema<infer T> ? T : never

/** Creates a Schema from a TypeBox value. It is compiled on first use. */
export function schema<const S extends TSchema>(json: S): Schema<Static<S>> {
  let validate: ValidateFunction | undefined
  return Object.freeze({
    json,
    parse(value: unknown, where = '') {
      validate ??= ajv.compile(json)
      if (validate(value)) return value as Static<S>
      throw problem('VALIDATION_ERROR', explain(validate.errors ?? [], where))
    },
  })
}

/** The schema of an id. */
export const uuid = Type.String({ format: 'uuid' })

/** The schema of an RFC 3339 instant. */
export const instant = Type.String({ format: 'date-time' })

/** The schema of a value that may be null. */
export const nullable = <S extends TSchema>(json: S) => Type.Union([json, Type.Null()])

/** Explains a validation failure. For a tagged union it explains the failure of the alternative that the tag names. */
function explain(errors: readonly ErrorObject[], where: string): string {
  const union = errors.at(-1)
  const tagged = union?.keyword === 'anyOf' ? tagOf(union) : undefined
  if (!union || !tagged) return explainOne(errors[0], where)
  const { key, constants, sent } = tagged
  const named = constants.indexOf(sent as string)
  if (named >= 0) return explainOne(errors.find(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${named}/`)) ?? union, where)
  const path = join(pathOf(union.instancePath, where), key)
  return sent === undefined ? `${path} is required` : `${path} must be one of ${constants.join(', ')}`
}

/** The tag of a union: its key, its constants and the sent value; undefined for a union without a tag. */
function tagOf({ schema, data }: ErrorObject): { key: string; constants: string[]; sent: unknown } | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const options = (schema as TSchema[]).map((option) => (option as { properties?: Record<string, { const?: unknown }> }).properties ?? {})
  const key = Object.keys(options[0] ?? {}).find((name) => options.every((option) => typeof option[name]?.const === 'string'))
  if (key === undefined) return undefined
  return { key, constants: options.map((option) => String(option[key]?.const)), sent: (data as Record<string, unknown>)[key] }
}

function explainOne(error: ErrorObject | undefined, where: string): string {
  if (!error) return `${where || 'body'} is not valid`
  const path = pathOf(error.instancePath, where)
  const rule = rules[error.keyword] ?? (() => error.message ?? 'is not valid')
  if (error.keyword === 'required') return `${join(path, error.params.missingProperty)} is required`
  return `${path || 'body'} ${rule(error.params, error)}`
}

const rules: Readonly<Record<string, (params: Record<string, unknown>, error: ErrorObject) => string>> = {
  type: ({ type }) => `must be ${Array.isArray(type) ? type.join(' or ') : article(String(type))}`,
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
    format === nameFormat ? `must be ${String(error.parentSchema?.description)}` : `must be a valid ${format}${hintOf(error)}`,
  anyOf: (_, error) => `must be ${alternatives(error.schema)}`,
  uniqueItems: () => 'must not hold the same item twice',
  additionalProperties: ({ additionalProperty }) => `must not have the key ${additionalProperty}`,
}

/** The schema's `x-hint` as the end of a message; empty without one. */
function hintOf({ parentSchema }: ErrorObject): string {
  const hint = parentSchema?.['x-hint']
  return typeof hint === 'string' ? `: ${hint}` : ''
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
