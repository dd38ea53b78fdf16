import { defineBlock, listSetting, textSetting } from '#shared/core/automation/block.ts'
import { compareClauseValues, toDecimal } from '#shared/core/automation/clauses.ts'
import { listProblems, readListItems } from '#shared/core/automation/items.ts'
import { automationLimits } from '#shared/core/automation/limits.ts'
import { hasReference, toBoundedText, toText } from '#shared/core/automation/template.ts'
import { valueAt } from '#shared/features/flows/execution/render-template.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { canonicalDecimal, Decimal, isPlainDecimal } from '#shared/platform/kernel/values/decimal.ts'
import { toJsonNumber } from '#shared/platform/kernel/values/json.ts'

type Reduce = (values: readonly unknown[], budget: ComputeBudget) => unknown

/** Folds a list, beginning with `first`; when a pause is due, it pauses between items so that other workspaces can use the thread. */
async function fold<Value>(
  values: readonly unknown[],
  first: Value,
  next: (before: Value, value: unknown) => Value,
  budget: ComputeBudget,
): Promise<Value> {
  let found = first
  for (const value of values) {
    if (budget.isPauseDue()) await budget.pause()
    budget.takeSteps(1)
    found = next(found, value)
  }
  return found
}

const sum = (values: readonly unknown[], budget: ComputeBudget): Promise<Decimal> =>
  fold(values, new Decimal(0), (total, value) => total.plus(numberOf(value)), budget)
const numeric = (value: Decimal): unknown => toJsonNumber(canonicalDecimal(value))
const selectExtreme =
  (sign: 1 | -1): Reduce =>
  async (values, budget) => {
    const better = (found: unknown, value: unknown) =>
      found === undefined || sign * compareClauseValues(value, found, budget) > 0 ? value : found
    return (await fold<unknown>(values, undefined, better, budget)) ?? null
  }

async function join(values: readonly unknown[], budget: ComputeBudget): Promise<string> {
  const parts: string[] = []
  let length = 0
  const add = (_: unknown, value: unknown): void => {
    const text = toBoundedText(value)
    budget.takeSteps(text.length >> 9)
    length += text.length
    if (length > automationLimits.renderedCharacters)
      throw problem('VALIDATION_ERROR', `join may make at most ${automationLimits.renderedCharacters} characters; join fewer items`)
    parts.push(text)
  }
  await fold<unknown>(values, undefined, add, budget)
  return parts.join(', ')
}

/** Operations on a list of values; items without a value were left out before. */
const operations: Readonly<Record<string, Reduce>> = {
  sum: async (values, budget) => numeric(await sum(values, budget)),
  avg: async (values, budget) =>
    values.length === 0 ? null : numeric((await sum(values, budget)).dividedBy(values.length).toDecimalPlaces(20)),
  min: selectExtreme(-1),
  max: selectExtreme(1),
  count: (values) => values.length,
  join,
}
const names = Object.keys(operations).join(', ')
const opProblem = `op must be one of ${names}`

function numberOf(value: unknown): Decimal {
  const number = toDecimal(value)
  if (!number || (typeof value === 'string' && !isPlainDecimal(value.trim())))
    throw problem('VALIDATION_ERROR', `${toBoundedText(value).slice(0, 100)} is no number`)
  return number
}

export const reduceBlock = defineBlock({
  type: 'logic.reduce',
  label: 'Reduce',
  description: 'Computes one value from a list: sum, average, minimum, maximum, count, or all items as text.',
  settings: {
    list: listSetting('A reference to a list, or a JSON array.'),
    op: textSetting(`One of ${names}.`),
    field: textSetting('The path of the value in each item, such as amount.amount; blank for the item itself.'),
  },
  required: ['list', 'op'],
  problems: ({ list, op }) => [
    ...listProblems(list),
    ...(op === undefined || Object.hasOwn(operations, op as string) || hasReference(op) ? [] : [opProblem]),
  ],
  handles: ['out'],
  output: { value: t.Unknown() },
  shown: 'editors',
  app: null,
  work: {
    computes: async ({ settings, budget }) => {
      const op = toText(settings.op).trim()
      const reduce = Object.hasOwn(operations, op) ? operations[op] : undefined
      if (!reduce) throw problem('VALIDATION_ERROR', opProblem)
      const path = toText(settings.field).trim()
      const items = readListItems(settings.list)
      const parts = path.split('.')
      // A count without a path counts all items; every other operation uses those that have a value.
      const present: unknown[] = []
      const addPresent = (_: unknown, item: unknown): void => {
        const value = path === '' ? item : valueAt(item, parts)
        if (value !== undefined && value !== null && value !== '') present.push(value)
      }
      await fold<unknown>(items, undefined, addPresent, budget)
      return { output: { value: (await reduce(op === 'count' && path === '' ? items : present, budget)) ?? null } }
    },
  },
})
