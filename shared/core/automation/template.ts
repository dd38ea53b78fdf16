import { automationLimits } from '#shared/core/automation/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { roundTripsAsDouble } from '#shared/platform/kernel/values/exact-numbers.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'
import { copyJson, hasParts, isLongJson } from '#shared/platform/kernel/values/json-walk.ts'

/** Path of a reference such as `{{ trigger.record.name }}`; the first part is its root. */
export type Path = readonly [string, ...string[]]

/** Replaces references in a value; `extra` adds roots to those of the run. */
export type Render = (value: unknown, extra?: Readonly<Record<string, unknown>>) => unknown

/** Roots of references (docs/contract/flows.md#references). The database knows them too (`flow_references`, migration 0015). */
const referenceRoots: ReadonlySet<string> = new Set(['trigger', 'context', 'steps', 'item', 'index'])

/** Whether a name begins with a root of references, such as `trigger.record.name` or `item`. */
export const beginsWithRoot = (name: string): boolean => referenceRoots.has(name.split('.', 1)[0] ?? '')

// A path contains no braces, so the innermost pair counts; other braces are literal text.
export const reference = /\{\{([^{}]+)\}\}/g

/** Reads the text between `{{` and `}}` as a path; undefined when it is blank. */
export function pathOf(inside: string): Path | undefined {
  const trimmed = inside.trim()
  return trimmed === '' ? undefined : (trimmed.split('.').map((part) => part.trim()) as unknown as Path)
}

/** Paths of all references in a value, in texts at any depth. */
export function* pathsIn(value: unknown): Generator<Path> {
  if (typeof value === 'string') {
    for (const [, inside = ''] of value.matchAll(reference)) {
      const path = pathOf(inside)
      if (path) yield path
    }
  } else if (Array.isArray(value)) {
    for (const item of value) yield* pathsIn(item)
  } else if (hasParts(value)) {
    for (const item of Object.values(value)) yield* pathsIn(item)
  }
}

/** Whether a value holds a reference, so that its content is known only at run time. */
export const hasReference = (value: unknown): boolean => !pathsIn(value).next().done

/** Throws VALIDATION_ERROR naming the block when a reference begins with an unknown root. */
export function refuseUnknownRoots(nodeId: string, config: unknown): void {
  for (const path of pathsIn(config)) {
    if (referenceRoots.has(path[0])) continue
    const known = [...referenceRoots].join(', ')
    throw problem('VALIDATION_ERROR', `${nodeId}: {{${path.join('.').slice(0, 100)}}} must begin with one of ${known}`)
  }
}

/** Problem of values that are too long to be inserted into a setting. */
export const tooLong = () =>
  problem(
    'VALIDATION_ERROR',
    `a setting may have at most ${automationLimits.renderedCharacters} characters once its references are replaced; refer to less`,
  )

/** Same text as `toText`. Throws VALIDATION_ERROR when the value is a list or object whose JSON exceeds 1 MB. */
export function toBoundedText(value: unknown): string {
  if (hasParts(value) && isLongJson(value, automationLimits.renderedCharacters)) throw tooLong()
  return toText(value)
}

/** Text of a value: JSON for lists and objects, empty for null and undefined. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return jsonNumberText(value) ?? (typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/**
 * Turns numbers that a double cannot hold into text with all their digits (docs/contract/conventions.md#decimals). A number that a double
 * holds stays a number, in any notation: `1.10`, `1e2`.
 */
export function toPlainJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (JSON.isRawJSON(value)) return plainNumber(value.rawJSON)
  if (Array.isArray(value)) return value.map(toPlainJson)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlainJson(item)]))
}

/** Same as `toPlainJson` for values of any size. Yields the thread between their parts. */
export const toPlainJsonInSlices = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(value, { leaf: (part) => (JSON.isRawJSON(part) ? plainNumber(part.rawJSON) : part) }, budget)

const plainNumber = (text: string): number | string => (roundTripsAsDouble(text) ? Number(text) : text)

/** Settings as trimmed texts, without blank ones. */
export const readFilledTexts = (settings: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hasParts(settings) ? settings : {}).flatMap(([name, value]) => {
      const text = toText(value).trim()
      return text === '' ? [] : [[name, text]]
    }),
  )
