import { builder, type Knex } from '#shared/db/builder.ts'
import { canonicalDecimal, Decimal, isDecimalText } from '#shared/kernel/decimal.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { isDay, utcInstant } from '#shared/kernel/instant.ts'
import { numberText } from '#shared/kernel/json.ts'

/**
 * One way in which a stored value can be compared: as a number, as text, as a day, … It carries both forms of that comparison: `form` and
 * `against` for a value in memory, `guard`, `column` and `cast` for a column in SQL. Neither ever raises an error, whatever the operand.
 */
export interface View {
  /** A value or operand seen this way, or undefined when it cannot be. What is equal has the same form; an operand's is its parameter in SQL. */
  readonly form: (side: unknown) => string | boolean | undefined
  /**
   * How values stand to an operand: below, at or above 0 as they are less, equal or greater, undefined where they are not like it. The
   * whole is undefined when the operand itself cannot be seen this way.
   */
  readonly against: (operand: unknown) => ((value: unknown) => number | undefined) | undefined
  /** PostgreSQL type of the parameter. */
  readonly cast: string
  /** What of the column is compared with the parameter. */
  readonly column: (column: Knex.Raw) => Knex.Raw
  /** Where only some of the column's values can be seen this way: the condition under which `column` may be computed. */
  readonly guard?: (column: Knex.Raw) => Knex.Raw
}

/** What differs between the ways of comparing: how either side is read, and the order of what was read. */
interface Reading<T> {
  readonly cast: string
  readonly read: (side: unknown) => T | undefined
  readonly order: (first: T, second: T) => number
  readonly form: (read: T) => string | boolean
  readonly column?: (column: Knex.Raw) => Knex.Raw
  readonly guard?: (column: Knex.Raw) => Knex.Raw
}

function view<T>({ read, order, form, cast, column = (name) => name, guard }: Reading<T>): View {
  return {
    form(side) {
      const seen = read(side)
      return seen === undefined ? undefined : form(seen)
    },
    against(operand) {
      const right = read(operand)
      if (right === undefined) return undefined
      return (value) => {
        const left = read(value)
        return left === undefined ? undefined : order(left, right)
      }
    },
    cast,
    column,
    ...(guard && { guard }),
  }
}

const text = (side: unknown): string | undefined => (typeof side === 'string' ? side : undefined)
const textBy = (read: (text: string) => string | undefined) => (side: unknown) => (typeof side === 'string' ? read(side) : undefined)
const itself = (read: string): string => read
const byCodeUnit = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0)

/** The decimal of a JSON number, numeric text, or a currency's `{amount}`, which is what a test of a currency field asks about. */
function decimal(side: unknown): Decimal | undefined {
  const amount = typeof side === 'object' && side !== null && 'amount' in side ? side.amount : side
  const digits = typeof amount === 'string' ? amount : numberText(amount)
  return digits !== undefined && isDecimalText(digits) ? new Decimal(digits) : undefined
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>(
  [true, false].flatMap((value) => [[value, value] as const, [String(value), value] as const]),
)

/** Exactly the same text; its order is never asked. */
export const asText = view({ cast: 'text', read: text, order: byCodeUnit, form: itself })

/** Text in the order of its code points, in any database and for any column. */
export const asOrderedText = view({
  cast: 'text',
  read: text,
  order: byCodePoint,
  form: itself,
  column: (column) => builder.raw('? collate "C"', [column]),
})

/** A UUID in its text form, which is how it stands to text that is no UUID. */
export const asIdText = view({
  cast: 'text',
  read: textBy((id) => id.toLowerCase()),
  order: byCodePoint,
  form: itself,
  column: (column) => builder.raw('?::text collate "C"', [column]),
})

export const asId = view({
  cast: 'uuid',
  read: textBy((id) => (isUuid(id) ? id.toLowerCase() : undefined)),
  order: byCodeUnit,
  form: itself,
})
export const asBoolean = view({
  cast: 'boolean',
  read: (side) => booleans.get(side),
  order: (first, second) => Number(first) - Number(second),
  form: (read) => read,
})
export const asNumber = view({ cast: 'numeric', read: decimal, order: (first, second) => first.cmp(second), form: canonicalDecimal })

// The form that `isDecimalText` accepts. The length is looked at first, because numeric has its limits too.
const decimalForm = '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'

/** Text that reads as a number; a cast outside its guard would raise an error. */
export const asNumericText = view({
  cast: 'numeric',
  read: decimal,
  order: (first, second) => first.cmp(second),
  form: canonicalDecimal,
  column: (column) => builder.raw('?::numeric', [column]),
  guard: (column) => builder.raw('(length(?) <= 400 and ? ~ ?)', [column, column, decimalForm]),
})

/** Instants to the microsecond. */
export const asInstant = view({ cast: 'timestamptz', read: textBy(utcInstant), order: byCodeUnit, form: itself })

const dayOf = textBy((side) => (isDay(side) ? side : utcInstant(side)?.slice(0, 10)))

/** Days: an instant stands for its UTC day (decisions, Date-only value against a datetime field). */
export const asDay = view({ cast: 'date', read: dayOf, order: byCodeUnit, form: itself })
/** A stored instant as its UTC day. */
export const asDayOfInstant = view({
  cast: 'date',
  read: dayOf,
  order: byCodeUnit,
  form: itself,
  column: (column) => builder.raw(`(? at time zone 'UTC')::date`, [column]),
})

/** The order of PostgreSQL's "C" collation. JavaScript's own goes by UTF-16 units, which puts U+10000 before U+E000. */
function byCodePoint(first: string, second: string): number {
  for (let index = 0; index < first.length && index < second.length; index++) {
    const [left, right] = [first.charCodeAt(index), second.charCodeAt(index)]
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return first.length - second.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
