import fc from 'fast-check'
import { anyText } from '#test/api/fuzz/texts.ts'

/** The parts of JSON Schema that the routes' schemas use. */
export interface Json {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Json[]
  readonly properties?: Readonly<Record<string, Json>>
  readonly patternProperties?: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
  readonly items?: Json
  readonly minItems?: number
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** Values by the name of a property or parameter, for names that must refer to existing things; `:name` is a parameter of the path only. */
export type Names = Readonly<Record<string, fc.Arbitrary<unknown>>>

/** Any JSON value, including hostile texts. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: anyText },
  { weight: 3, arbitrary: fc.constantFrom(null, true, false, 0, -1, 1.5, 1e15, -1e300, [], {}) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Values that the schema allows; with `noise` about one place in ten holds any other value or is omitted. */
export function fromSchema(json: Json, names: Names, noise: boolean): fc.Arbitrary<unknown> {
  const allowed = json.anyOf ? fc.oneof(...json.anyOf.map((one) => fromSchema(one, names, noise))) : ofType(json, names, noise)
  return noise ? fc.oneof({ weight: 9, arbitrary: allowed }, { weight: 1, arbitrary: anyJson }) : allowed
}

function ofType(json: Json, names: Names, noise: boolean): fc.Arbitrary<unknown> {
  if ('const' in json) return fc.constant(json.const)
  if (json.enum) return fc.constantFrom(...json.enum)
  const types = typeof json.type === 'string' ? [json.type] : (json.type ?? ['any'])
  return fc.oneof(...types.map((type) => (makers[type] ?? (() => anyJson))(json, names, noise)))
}

const makers: Readonly<Record<string, (json: Json, names: Names, noise: boolean) => fc.Arbitrary<unknown>>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = -1_000_000, maximum = 1_000_000 }) =>
    fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum)),
  number: () => fc.oneof(fc.integer({ min: -1_000, max: 1_000 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
  string: text,
  array: ({ items = {}, minItems = 0 }, names, noise) =>
    fc.array(fromSchema(items, names, noise), { minLength: noise ? 0 : minItems, maxLength: minItems + 3 }),
  object,
}

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  'date-time': fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
}

function text({ format = '', pattern, minLength = 0, maxLength = 40 }: Json): fc.Arbitrary<string> {
  const form = formats[format]
  if (form) return form
  // No generator makes texts for classes of Unicode, which patterns of names use: words match them.
  if (pattern?.includes('\\p')) return fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), anyText)
  if (pattern) return matching(pattern)
  return fc.oneof(fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }), anyText)
}

const made = new Map<string, fc.Arbitrary<string>>()

/** Made once for each pattern, since it is expensive and patterns repeat. */
function matching(pattern: string): fc.Arbitrary<string> {
  const arbitrary = made.get(pattern) ?? fc.stringMatching(new RegExp(pattern))
  made.set(pattern, arbitrary)
  return arbitrary
}

function object(json: Json, names: Names, noise: boolean): fc.Arbitrary<unknown> {
  const { properties = {}, patternProperties, required = [] } = json
  if (patternProperties) return fc.dictionary(fc.oneof(fc.string({ maxLength: 12 }), anyText), anyJson, { maxKeys: 4 })
  const named = Object.entries(properties).map(([name, property]) => [name, underName(name, property, names, noise)])
  const record = fc.record(Object.fromEntries(named) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: noise ? [] : required.filter((name) => name in properties),
  })
  return noise
    ? fc.tuple(record, fc.dictionary(anyText, anyJson, { maxKeys: 1 })).map(([known, other]) => ({ ...other, ...known }))
    : record
}

/** The value of a property: three times in four an existing thing, otherwise any value of the schema. */
export function underName(name: string, property: Json, names: Names, noise: boolean): fc.Arbitrary<unknown> {
  const known = names[name]
  const other = fromSchema(property, names, noise)
  return known ? fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: other }) : other
}
