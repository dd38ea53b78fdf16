import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { FieldType, FieldValue, Money } from '#shared/platform/kernel/field-type.ts'

// The contract (docs/contract/access.md) implemented as plainly as possible and without the engine: the property tests compare both forms
// of the engine with it.

/** The result of a test: `cannot` when the two sides cannot be compared. */
type Answer = 'yes' | 'no' | 'cannot'

export interface NaiveCaller {
  readonly id: string | null
  readonly type: string
}

export interface NaiveRecord {
  readonly id: string
  readonly object_type: string
  readonly created_by: string | null
  readonly created_at: string
  readonly values: Readonly<Record<string, FieldValue>>
}

type Types = Readonly<Record<string, FieldType>>

/** "A matching deny rule refuses the request; otherwise a matching allow rule allows it; otherwise it is refused." */
export function mayDo(rules: readonly PolicyRule[], action: string, caller: NaiveCaller, types: Types, record: NaiveRecord): boolean {
  const touching = rules.filter((rule) => names(rule, action) && isOn(rule, record.object_type))
  if (touching.some((rule) => rule.effect === 'deny' && applies(rule, caller, types, record))) return false
  return touching.some((rule) => rule.effect === 'allow' && applies(rule, caller, types, record))
}

/** "Several matching allow rules reveal the union of what each reveals; a field that any matching rule denies is hidden." */
export function fieldsShown(
  rules: readonly PolicyRule[],
  action: string,
  caller: NaiveCaller,
  types: Types,
  record: NaiveRecord,
  reads: Readonly<Record<string, readonly string[]>> = {},
): string[] {
  if (!mayDo(rules, action, caller, types, record)) return []
  const matching = rules.filter(
    (rule) => rule.effect === 'allow' && names(rule, action) && isOn(rule, record.object_type) && applies(rule, caller, types, record),
  )
  const shows = (key: string): boolean => {
    const denied = matching.some((rule) => rule.fields?.deny?.includes(key))
    const revealed = matching.some((rule) => !rule.fields?.allow?.length || rule.fields.allow.includes(key))
    return revealed && !denied && (reads[key] ?? []).every(shows)
  }
  return Object.keys(types).filter(shows).sort()
}

function names({ actions }: PolicyRule, action: string): boolean {
  const all: readonly string[] = actions
  return all.includes('*') || all.includes(action) || (action.startsWith('records:') && all.includes('records:*'))
}

const isOn = ({ resources }: PolicyRule, key: string): boolean =>
  !resources || resources.length === 0 || resources.includes('*') || resources.includes(key)

/** "When sides cannot be compared, an allow rule does not apply and a deny rule still applies", unless another test fails. */
function applies(rule: PolicyRule, caller: NaiveCaller, types: Types, record: NaiveRecord): boolean {
  const answers = Object.entries(rule.condition ?? {}).flatMap(([tested, tests]) =>
    Object.entries(tests).map(([operator, operand]) => answer(tested, operator, operand, caller, types, record)),
  )
  if (answers.includes('no')) return false
  return rule.effect === 'deny' || !answers.includes('cannot')
}

type Sort = FieldType | 'id' | 'principal'

function answer(tested: string, operator: string, operand: unknown, caller: NaiveCaller, types: Types, record: NaiveRecord): Answer {
  const { sort, value } = testedValue(tested, caller, types, record)
  const own = (side: unknown) => (side === 'principal.id' ? caller.id : side)
  const negated = operator === 'ne' || operator === 'nin'
  if (value === null || value === undefined || (!Array.isArray(operand) && own(operand) === null)) return negated ? 'yes' : 'no'
  const operands = (Array.isArray(operand) ? operand : [operand]).map(own).filter((side) => side !== null)
  if (['gt', 'gte', 'lt', 'lte'].includes(operator)) return ordered(sort, value, operator, operands[0])
  if (operator === 'contains') return contains(sort, value, operands[0]) ? 'yes' : 'no'
  return operands.some((side) => isSame(sort, value, side)) === negated ? 'no' : 'yes'
}

function testedValue(tested: string, caller: NaiveCaller, types: Types, record: NaiveRecord): { sort: Sort; value: unknown } {
  if (tested === 'principal.id') return { sort: 'id', value: caller.id }
  if (tested === 'principal.type') return { sort: 'string', value: caller.type }
  if (tested === 'resource.id') return { sort: 'id', value: record.id }
  if (tested === 'resource.owner') return { sort: 'id', value: record.created_by }
  if (tested === 'resource.created_at') return { sort: 'datetime', value: record.created_at }
  if (tested === 'resource.object_type') return { sort: 'string', value: record.object_type }
  const key = tested.slice('resource.'.length)
  return { sort: types[key] ?? 'string', value: record.values[key] }
}

const isTextual = (sort: Sort): boolean => ['string', 'text', 'email', 'url', 'select', 'file'].includes(sort)
const isId = (sort: Sort): boolean => sort === 'ref' || sort === 'id'

function isSame(sort: Sort, value: unknown, operand: unknown): boolean {
  if (isTextual(sort) && typeof operand === 'string') return value === operand
  if (isTextual(sort) || sort === 'number') return numbers(value, operand) === 0
  if (sort === 'currency') return numbers((value as Money).amount, operand) === 0
  if (sort === 'bool') return String(value) === String(operand)
  if (isId(sort)) return typeof operand === 'string' && value === operand.toLowerCase()
  if (sort === 'date' || sort === 'datetime') return times(value as string, operand) === 0
  return false
}

/** "Numbers with numbers (numeric text counts), dates and instants with dates and instants, text with text; anything else cannot be compared." */
function ordered(sort: Sort, value: unknown, operator: string, operand: unknown): Answer {
  const order = orderOf(sort, value, operand)
  if (order === undefined) return 'cannot'
  const holds = { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator]
  return holds ? 'yes' : 'no'
}

function orderOf(sort: Sort, value: unknown, operand: unknown): number | undefined {
  if (sort === 'number') return numbers(value, operand)
  if (sort === 'currency') return numbers((value as Money).amount, operand)
  if (sort === 'date' || sort === 'datetime') return times(value as string, operand)
  if (isTextual(sort)) return numbers(value, operand) ?? texts(value, operand)
  return isId(sort) ? texts(value, typeof operand === 'string' ? operand.toLowerCase() : operand) : undefined
}

const texts = (first: unknown, second: unknown): number | undefined =>
  typeof first === 'string' && typeof second === 'string' ? Buffer.compare(Buffer.from(first), Buffer.from(second)) : undefined

/** Compares decimal numbers by their digits, as whole numbers of the smaller unit. */
function numbers(first: unknown, second: unknown): number | undefined {
  const [left, right] = [digits(first), digits(second)]
  if (!left || !right) return undefined
  const unit = Math.min(left.exponent, right.exponent)
  const [one, other] = [left, right].map(({ whole, exponent }) => whole * 10n ** BigInt(exponent - unit)) as [bigint, bigint]
  return one < other ? -1 : one > other ? 1 : 0
}

function digits(side: unknown): { whole: bigint; exponent: number } | undefined {
  if (typeof side !== 'string' && typeof side !== 'number') return undefined
  const [, sign, integer = '', fraction = '', exponent = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(String(side)) ?? []
  if (integer + fraction === '') return undefined
  return { whole: BigInt(integer + fraction) * (sign === '-' ? -1n : 1n), exponent: Number(exponent) - fraction.length }
}

/** Where one side is a whole day, the other counts as its UTC day. */
function times(value: string, operand: unknown): number | undefined {
  if (typeof operand !== 'string') return undefined
  const [left, right] = [moment(value), moment(operand)]
  if (!left || !right) return undefined
  const [one, other] = left.wholeDay || right.wholeDay ? [dayOf(left.micros), dayOf(right.micros)] : [left.micros, right.micros]
  return one < other ? -1 : one > other ? 1 : 0
}

function moment(text: string): { wholeDay: boolean; micros: bigint } | undefined {
  const [, day, time, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\d)(?:[Tt]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined) return undefined
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const leap = time?.endsWith(':60') ? 1_000 : 0
  const clock = leap ? time?.replace(/60$/, '59') : time
  const seconds = clock === undefined ? midnight : Date.parse(`${day}T${clock}${zone?.toUpperCase()}`) + leap
  if (Number.isNaN(seconds) || seconds < Date.parse('0001-01-01T00:00:00Z') || seconds >= Date.parse('+010000-01-01T00:00:00Z'))
    return undefined
  return { wholeDay: time === undefined, micros: BigInt(seconds) * 1_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0')) }
}

function dayOf(micros: bigint): bigint {
  const day = 86_400_000_000n
  return (micros - (((micros % day) + day) % day)) / day
}

/** "`contains` (text, case-insensitive)"; of a list, an element. */
function contains(sort: Sort, value: unknown, operand: unknown): boolean {
  const part = small(operand as string)
  if (Array.isArray(value)) return value.some((item) => small(item) === part)
  return (isTextual(sort) || isId(sort)) && small(value as string).includes(part)
}

/** Lower case, letter by letter. */
export const small = (text: string): string => Array.from(text, (letter) => [...letter.toLowerCase()][0]).join('')
