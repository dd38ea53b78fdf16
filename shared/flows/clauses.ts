import { type Render, textOf } from '#shared/flows/template.ts'
import { Decimal, isDecimalText } from '#shared/kernel/decimal.ts'
import { isDay, utcInstant } from '#shared/kernel/instant.ts'
import { numberText } from '#shared/kernel/json.ts'
import { t } from '#shared/kernel/schema.ts'

type Test = (left: unknown, right: unknown) => boolean

/** What a clause can ask of its two sides (decisions, Flows). */
const operators: Readonly<Record<string, Test>> = {
  eq: (left, right) => compare(left, right) === 0,
  ne: (left, right) => compare(left, right) !== 0,
  gt: (left, right) => compare(left, right) > 0,
  gte: (left, right) => compare(left, right) >= 0,
  lt: (left, right) => compare(left, right) < 0,
  lte: (left, right) => compare(left, right) <= 0,
  contains,
  not_contains: (left, right) => !contains(left, right),
  in: (left, right) => choicesOf(right).some((choice) => compare(left, choice) === 0),
  is_empty: isEmpty,
  is_not_empty: (left) => !isEmpty(left),
}
const unary: ReadonlySet<string> = new Set(['is_empty', 'is_not_empty'])

const side = (description: string) => t.Optional(t.Unknown({ description }))
const clause = t.Object({
  left: side('Mostly a reference.'),
  op: t.Optional(t.String({ description: `One of ${Object.keys(operators).join(', ')}.` })),
  right: side('What it is compared with; is_empty and is_not_empty need none.'),
})
interface Clause {
  readonly left?: unknown
  readonly op?: string
  readonly right?: unknown
}

/** The settings of a block that tests something. */
export const clauseSettings = {
  match: t.Optional(t.String({ description: 'all: every clause must hold (the default); any: one is enough.' })),
  clauses: t.Optional(t.Array(clause, { maxItems: 100, description: 'Tests; none at all is true.' })),
}

/** What is wrong with the clauses of a block. */
export function clauseProblems({ match = 'all', clauses = [] }: Readonly<Record<string, unknown>>): string[] {
  const wrongMatch = ['all', 'any'].includes(match as string) ? [] : ['match must be all or any']
  return [...wrongMatch, ...(clauses as readonly Clause[]).flatMap((one, index) => problemsOf(one, `clauses[${index}]`))]
}

function problemsOf({ left, op, right }: Clause, path: string): string[] {
  if (op === undefined) return [`${path}.op is required`]
  if (!Object.hasOwn(operators, op)) return [`${path}.op must be one of ${Object.keys(operators).join(', ')}`]
  if (left === undefined) return [`${path}.left is required`]
  return right === undefined && !unary.has(op) ? [`${path}.right is required`] : []
}

/** Whether the clauses of a block hold; no clauses are true. */
export function holds(
  { match, clauses = [] }: Readonly<Record<string, unknown>>,
  render: Render,
  extra?: Readonly<Record<string, unknown>>,
): boolean {
  const all = clauses as readonly Clause[]
  const test = ({ left, op = '', right }: Clause): boolean => operators[op]?.(render(left, extra), render(right, extra)) ?? false
  if (all.length === 0) return true
  return match === 'any' ? all.some(test) : all.every(test)
}

/** Below, at or above 0 as the left side is less, equal or more: as numbers or times when both sides are, else as text. */
export function compare(left: unknown, right: unknown): number {
  const numbers = [decimalOf(left), decimalOf(right)] as const
  if (numbers[0] && numbers[1]) return numbers[0].comparedTo(numbers[1])
  const [one, other] = [textOf(left), textOf(right)]
  const [before, after] = [timeOf(one), timeOf(other)]
  if (before !== undefined && after !== undefined) return order(before, after)
  return order(one, other)
}

const order = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The number that a value is, or is as text; undefined for any other. */
export function decimalOf(value: unknown): Decimal | undefined {
  const text = typeof value === 'string' ? value.trim() : numberText(value)
  return text !== undefined && isDecimalText(text) ? new Decimal(text) : undefined
}

/** An instant as text that sorts; a day is its first moment in UTC. */
const timeOf = (text: string): string | undefined => utcInstant(text) ?? (isDay(text) ? utcInstant(`${text}T00:00:00Z`) : undefined)

function contains(left: unknown, right: unknown): boolean {
  if (Array.isArray(left)) return left.some((item) => compare(item, right) === 0)
  return textOf(left).toLowerCase().includes(textOf(right).toLowerCase())
}

/** A list, or a text with commas. */
const choicesOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value)
    ? value
    : textOf(value)
        .split(',')
        .map((part) => part.trim())

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && !JSON.isRawJSON(value) && Object.keys(value).length === 0
}
