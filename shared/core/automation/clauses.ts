import { hasReference, type Render, toBoundedText, toText } from '#shared/core/automation/template.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { t } from '#shared/platform/kernel/schema.ts'
import { isDay, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { Decimal, isDecimalText } from '#shared/platform/kernel/values/decimal.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

type Test = (left: unknown, right: unknown, budget: ComputeBudget) => boolean | Promise<boolean>

/** Operators of a clause (docs/contract/flows.md#clauses). */
const operators: Readonly<Record<string, Test>> = {
  eq: (left, right, budget) => compareClauseValues(left, right, budget) === 0,
  ne: (left, right, budget) => compareClauseValues(left, right, budget) !== 0,
  gt: ordering((order) => order > 0),
  gte: ordering((order) => order >= 0),
  lt: ordering((order) => order < 0),
  lte: ordering((order) => order <= 0),
  contains,
  not_contains: async (left, right, budget) => !(await contains(left, right, budget)),
  in: (left, right, budget) => isAmong(choicesOf(right), left, budget),
  is_empty: isEmpty,
  is_not_empty: (left) => !isEmpty(left),
}
const unary: ReadonlySet<string> = new Set(['is_empty', 'is_not_empty'])

const side = (description: string) => t.Optional(t.Unknown({ description }))
const clause = t.Object({
  left: side('Mostly a reference.'),
  op: t.Optional(t.String({ description: `One of ${Object.keys(operators).join(', ')}.` })),
  right: side('The value that left is compared with; is_empty and is_not_empty need none.'),
})
interface Clause {
  readonly left?: unknown
  readonly op?: string
  readonly right?: unknown
}

/** Settings of a block that evaluates clauses. */
export const clauseSettings = {
  match: t.Optional(t.String({ description: 'all: every clause must hold (the default); any: one is enough.' })),
  clauses: t.Optional(t.Array(clause, { maxItems: 100, description: 'Tests; without any, the result is true.' })),
}

const matchProblem = 'match must be all or any'
const opProblem = (path: string): string => `${path}.op must be one of ${Object.keys(operators).join(', ')}`

/** Problems of a block's clauses, as sentences that name the setting. */
export function clauseProblems({ match = 'all', clauses = [] }: Readonly<Record<string, unknown>>): string[] {
  const wrongMatch = ['all', 'any'].includes(match as string) || hasReference(match) ? [] : [matchProblem]
  return [...wrongMatch, ...(clauses as readonly Clause[]).flatMap((clause, index) => problemsOf(clause, `clauses[${index}]`))]
}

function problemsOf({ left, op, right }: Clause, path: string): string[] {
  if (op === undefined) return [`${path}.op is required`]
  const isOpKnown = findOperator(op) !== undefined
  if (!isOpKnown && !hasReference(op)) return [opProblem(path)]
  if (left === undefined) return [`${path}.left is required`]
  return right === undefined && isOpKnown && !unary.has(op) ? [`${path}.right is required`] : []
}

/**
 * Whether the clauses of a block hold; an empty list is true. Yields the thread between clauses. Throws VALIDATION_ERROR for a `match` or an
 * `op` whose reference gives no known one.
 */
export async function evaluateClauses(
  { match, clauses = [] }: Readonly<Record<string, unknown>>,
  { render, budget }: { readonly render: Render; readonly budget: ComputeBudget },
  extra?: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const all = clauses as readonly Clause[]
  const mode = match === undefined || match === 'all' || match === 'any' ? match : readMatch(render(match, extra))
  const isAny = mode === 'any' && all.length > 0
  for (const [index, { left, op = '', right }] of all.entries()) {
    if (budget.isPauseDue()) await budget.pause()
    budget.takeSteps(1)
    const test = findOperator(op) ?? readOperator(render(op, extra), index)
    const result = test(render(left, extra), render(right, extra), budget)
    if ((typeof result === 'boolean' ? result : await result) === isAny) return isAny
  }
  return !isAny
}

function readMatch(match: unknown): string {
  const text = toText(match).trim() || 'all'
  if (text !== 'all' && text !== 'any') throw problem('VALIDATION_ERROR', matchProblem)
  return text
}

const findOperator = (op: string): Test | undefined => (Object.hasOwn(operators, op) ? operators[op] : undefined)

function readOperator(op: unknown, index: number): Test {
  const test = findOperator(toText(op).trim())
  if (!test) throw problem('VALIDATION_ERROR', opProblem(`clauses[${index}]`))
  return test
}

/** Negative, 0 or positive as left is less, equal or greater. Compares numbers or times when both sides are, otherwise text. */
export function compareClauseValues(left: unknown, right: unknown, budget: ComputeBudget): number {
  const numbers = [toDecimal(left), toDecimal(right)] as const
  if (numbers[0] && numbers[1]) return numbers[0].comparedTo(numbers[1])
  const [leftText, rightText] = [toBoundedText(left), toBoundedText(right)]
  budget.takeSteps((leftText.length + rightText.length) >> 9)
  const [leftTime, rightTime] = [timeOf(leftText), timeOf(rightText)]
  if (leftTime !== undefined && rightTime !== undefined) return compareText(leftTime, rightTime)
  return compareText(leftText, rightText)
}

/** A number, or a text that holds one, as Decimal; otherwise undefined. */
export function toDecimal(value: unknown): Decimal | undefined {
  const text = typeof value === 'string' ? value.trim() : jsonNumberText(value)
  return text !== undefined && isDecimalText(text) ? new Decimal(text) : undefined
}

/** Instant as sortable text; a day counts as its first moment in UTC. */
const timeOf = (text: string): string | undefined => toUtcInstant(text) ?? (isDay(text) ? toUtcInstant(`${text}T00:00:00Z`) : undefined)

/** A test of the order of both sides. It is false when one is empty, as in filters and policies. */
function ordering(holds: (order: number) => boolean): Test {
  return (left, right, budget) => !isEmpty(left) && !isEmpty(right) && holds(compareClauseValues(left, right, budget))
}

function contains(left: unknown, right: unknown, budget: ComputeBudget): Promise<boolean> {
  if (Array.isArray(left)) return isAmong(left, right, budget)
  const [text, part] = [toBoundedText(left).toLowerCase(), toBoundedText(right).toLowerCase()]
  budget.takeSteps((text.length + part.length) >> 9)
  return includesText(text, part, budget)
}

/** Maximum length of a part that is searched in one pass. Measured: 64 characters in 1 MB of text made to be slow to search take 8 ms. */
const maxShortPartLength = 64

/**
 * Maximum product of the part's length and the number of positions searched in one pass, which takes about 5 ms. Measured: 10,000
 * characters in 1 MB of text, both made to be slow to search, take 1.3 s in all passes together.
 */
const maxComparisons = 32_000_000

/**
 * Whether a text contains another. `String.includes` takes time proportional to the product of both lengths for texts made to be slow to
 * search, so this yields the thread between passes. The measured time of the passes counts as steps, since lengths do not predict the cost
 * of a search.
 */
async function includesText(text: string, part: string, budget: ComputeBudget): Promise<boolean> {
  budget.takeSteps(text.length >> 11)
  if (part.length <= maxShortPartLength) return text.includes(part)
  const width = Math.ceil(maxComparisons / part.length)
  for (let from = 0; from + part.length <= text.length; from += width) {
    const began = performance.now()
    if (text.slice(from, from + width + part.length - 1).includes(part)) return true
    budget.takeSteps(Math.floor((performance.now() - began) * 1_000))
    await budget.pause()
  }
  return false
}

/** Whether any of the values equals `value`. */
async function isAmong(values: Iterable<unknown>, value: unknown, budget: ComputeBudget): Promise<boolean> {
  for (const one of values) {
    if (budget.isPauseDue()) await budget.pause()
    budget.takeSteps(1)
    if (compareClauseValues(one, value, budget) === 0) return true
  }
  return false
}

/** Elements of a list, or of a comma-separated text. */
function* choicesOf(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) return yield* value
  const text = toBoundedText(value)
  for (let from = 0; from <= text.length; ) {
    const comma = text.indexOf(',', from)
    const end = comma === -1 ? text.length : comma
    yield text.slice(from, end).trim()
    from = end + 1
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && !JSON.isRawJSON(value) && Object.keys(value).length === 0
}
