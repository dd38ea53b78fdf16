import { defineBlock, list, text } from '#shared/flows/block.ts'
import { compare, decimalOf } from '#shared/flows/clauses.ts'
import { itemsOf, listProblems } from '#shared/flows/items.ts'
import { textOf, valueAt } from '#shared/flows/template.ts'
import { canonicalDecimal, Decimal, isPlainDecimal } from '#shared/kernel/decimal.ts'
import { problem } from '#shared/kernel/errors.ts'
import { exactNumber } from '#shared/kernel/json.ts'
import { t } from '#shared/kernel/schema.ts'

type Reduce = (values: readonly unknown[]) => unknown

const sum = (values: readonly unknown[]): Decimal => values.reduce<Decimal>((total, value) => total.plus(numberOf(value)), new Decimal(0))
const numeric = (value: Decimal): unknown => exactNumber(canonicalDecimal(value))
const best =
  (sign: 1 | -1): Reduce =>
  (values) =>
    values.reduce<unknown>((found, value) => (found === undefined || sign * compare(value, found) > 0 ? value : found), undefined) ?? null

/** What becomes of the values; those of items that have none are left out. */
const operations: Readonly<Record<string, Reduce>> = {
  sum: (values) => numeric(sum(values)),
  avg: (values) => (values.length === 0 ? null : numeric(sum(values).dividedBy(values.length).toDecimalPlaces(20))),
  min: best(-1),
  max: best(1),
  count: (values) => values.length,
  join: (values) => values.map(textOf).join(', '),
}
const names = Object.keys(operations).join(', ')

function numberOf(value: unknown): Decimal {
  const number = decimalOf(value)
  if (!number || (typeof value === 'string' && !isPlainDecimal(value.trim())))
    throw problem('VALIDATION_ERROR', `${textOf(value).slice(0, 100)} is no number`)
  return number
}

export const reduceBlock = defineBlock({
  type: 'logic.reduce',
  label: 'Reduce',
  description: 'Makes one value of a list: a sum, an average, the least or most, how many, or all as text.',
  settings: {
    list: list('A reference to a list, or a JSON array.'),
    op: text(`One of ${names}.`),
    field: text('The path of the value in each item, such as amount.amount; blank for the item itself.'),
  },
  required: ['list', 'op'],
  problems: ({ list, op }) => [
    ...listProblems(list),
    ...(op === undefined || Object.hasOwn(operations, op as string) ? [] : [`op must be one of ${names}`]),
  ],
  handles: ['out'],
  output: { value: t.Unknown() },
  shown: 'editors',
  app: null,
  work: {
    computes: ({ node: { config }, settings }) => {
      const path = textOf(settings.field).trim()
      const items = itemsOf(settings.list)
      const values = path === '' ? items : items.map((item) => valueAt(item, path.split('.')))
      // What is counted is the items; everything else goes by those that have a value.
      const present = values.filter((value) => value !== undefined && value !== null && value !== '')
      const reduce = operations[config.op as string]
      return { output: { value: reduce?.(config.op === 'count' && path === '' ? items : present) ?? null } }
    },
  },
})
