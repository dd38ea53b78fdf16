import { plainSql, type SqlText, sql, valueSql } from '#shared/platform/db/statements/sql-text.ts'
import { hasAmount } from '#shared/platform/kernel/field-type.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { canonicalDecimal, Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/**
 * One way to compare a stored value: as a number, as text, as a day, … `normalize` and `compareWith` compare values in memory;
 * `canCastSql`, `columnSql` and `sqlType` compare a column in SQL. Neither raises an error for any operand.
 */
export interface ValueComparison {
  /** Normal form of a value or operand; undefined if it has none. Equal values have equal forms. An operand's form is its SQL parameter. */
  readonly normalize: (side: unknown) => string | boolean | undefined
  /**
   * Returns a function that compares values with the operand: negative, 0 or positive for less, equal or greater; undefined for a value
   * that has no normal form. Returns undefined if the operand has none.
   */
  readonly compareWith: (operand: unknown) => ((value: unknown) => number | undefined) | undefined
  /** PostgreSQL type of the parameter. */
  readonly sqlType: SqlText
  /** SQL expression of the column that is compared with the parameter. */
  readonly columnSql: (column: SqlText) => SqlText
  /** SQL condition under which `columnSql` can be evaluated; absent if it always can. */
  readonly canCastSql?: (column: SqlText) => SqlText
}

/** Definition of a comparison: how a side is parsed, and the order of the parsed values. */
interface ComparisonDefinition<T> {
  readonly cast: string
  readonly read: (side: unknown) => T | undefined
  readonly order: (first: T, second: T) => number
  readonly form: (read: T) => string | boolean
  readonly column?: (column: SqlText) => SqlText
  readonly guard?: (column: SqlText) => SqlText
}

function createComparison<T>({ read, order, form, cast, column = (name) => name, guard }: ComparisonDefinition<T>): ValueComparison {
  return {
    normalize(side) {
      const parsed = read(side)
      return parsed === undefined ? undefined : form(parsed)
    },
    compareWith(operand) {
      const right = read(operand)
      if (right === undefined) return undefined
      return (value) => {
        const left = read(value)
        return left === undefined ? undefined : order(left, right)
      }
    },
    sqlType: plainSql(cast),
    columnSql: column,
    ...(guard && { canCastSql: guard }),
  }
}

const text = (side: unknown): string | undefined => (typeof side === 'string' ? side : undefined)
const parseText = (read: (text: string) => string | undefined) => (side: unknown) => (typeof side === 'string' ? read(side) : undefined)
const identity = (read: string): string => read

/** The decimal of a JSON number, numeric text, or a currency's `{amount}`: currency fields are tested by their amount. */
function decimal(side: unknown): Decimal | undefined {
  const amount = hasAmount(side) ? side.amount : side
  const digits = typeof amount === 'string' ? amount : jsonNumberText(amount)
  return digits !== undefined && isDecimalText(digits) ? new Decimal(digits) : undefined
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>(
  [true, false].flatMap((value) => [[value, value] as const, [String(value), value] as const]),
)

/** Exact text equality; its order is never used. */
export const asText = createComparison({ cast: 'text', read: text, order: compareText, form: identity })

/** Text in the order of its code points, in any database and for any column. */
export const asOrderedText = createComparison({
  cast: 'text',
  read: text,
  order: byCodePoint,
  form: identity,
  column: (column) => sql`${column} collate "C"`,
})

/** A UUID as text, for comparison with text that is not a UUID. */
export const asIdText = createComparison({
  cast: 'text',
  read: parseText((id) => id.toLowerCase()),
  order: byCodePoint,
  form: identity,
  column: (column) => sql`${column}::text collate "C"`,
})

export const asId = createComparison({
  cast: 'uuid',
  read: parseText((id) => (isUuid(id) ? id.toLowerCase() : undefined)),
  order: compareText,
  form: identity,
})
export const asBoolean = createComparison({
  cast: 'boolean',
  read: (side) => booleans.get(side),
  order: (first, second) => Number(first) - Number(second),
  form: (read) => read,
})
export const asNumber = createComparison({
  cast: 'numeric',
  read: decimal,
  order: (first, second) => first.cmp(second),
  form: canonicalDecimal,
})

// The form that `isDecimalText` accepts. The length is checked first, because `numeric` is limited too.
const decimalForm = valueSql('^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$')

/** Text that parses as a number; a cast without its `canCastSql` condition would raise an error. */
export const asNumericText = createComparison({
  cast: 'numeric',
  read: decimal,
  order: (first, second) => first.cmp(second),
  form: canonicalDecimal,
  column: (column) => sql`${column}::numeric`,
  guard: (column) => sql`(length(${column}) <= 400 and ${column} ~ ${decimalForm})`,
})

/** Instants to the microsecond. */
export const asInstant = createComparison({ cast: 'timestamptz', read: parseText(toUtcInstant), order: compareText, form: identity })

const dayOf = parseText((side) => (isDay(side) ? side : toUtcInstant(side)?.slice(0, 10)))

/** Days; an instant counts as its UTC day (docs/contract/access.md#comparisons). */
export const asDay = createComparison({ cast: 'date', read: dayOf, order: compareText, form: identity })
/** A stored instant as its UTC day. */
export const asDayOfInstant = createComparison({
  cast: 'date',
  read: dayOf,
  order: compareText,
  form: identity,
  column: (column) => sql`(${column} at time zone 'UTC')::date`,
})

/** The order of PostgreSQL's "C" collation. JavaScript compares UTF-16 units, which puts U+10000 before U+E000. */
function byCodePoint(first: string, second: string): number {
  for (let index = 0; index < first.length && index < second.length; index++) {
    const [left, right] = [first.charCodeAt(index), second.charCodeAt(index)]
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return first.length - second.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
