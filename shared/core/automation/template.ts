import { automationLimits } from '#shared/core/automation/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { isExactDouble } from '#shared/platform/kernel/values/exact-numbers.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'
import { copyJson, hasParts, isLongJson } from '#shared/platform/kernel/values/json-walk.ts'

/** A reference such as `{{ trigger.record.name }}`, as its path: the first part is its root. */
export type Path = readonly [string, ...string[]]

/** What a path leads to; undefined when that is nothing. */
export type Lookup = (path: Path) => unknown

/** Replaces references in a value; `extra` are roots beside those of the run. */
export type Render = (value: unknown, extra?: Readonly<Record<string, unknown>>) => unknown

/** What a reference may begin with (decisions, Flows). */
export const referenceRoots: ReadonlySet<string> = new Set(['trigger', 'context', 'steps', 'item', 'index'])

// A path has no braces in it, so the innermost pair counts, and whatever else has braces stands for itself.
const reference = /\{\{([^{}]+)\}\}/g

/** The path between two braces; undefined when there is none. */
function pathOf(inside: string): Path | undefined {
  const trimmed = inside.trim()
  return trimmed === '' ? undefined : (trimmed.split('.').map((part) => part.trim()) as unknown as Path)
}

/** The paths of all references in a value, in texts however deep. */
export function* pathsIn(value: unknown): Generator<Path> {
  if (typeof value === 'string') {
    for (const [, inside = ''] of value.matchAll(reference)) {
      const path = pathOf(inside)
      if (path) yield path
    }
  } else if (Array.isArray(value)) {
    for (const item of value) yield* pathsIn(item)
  } else if (isJsonObject(value)) {
    for (const item of Object.values(value)) yield* pathsIn(item)
  }
}

/** Whether a text holds any reference, so that what it will be is known only when it is run. */
export const hasReference = (value: unknown): boolean => !pathsIn(value).next().done

/** Throws VALIDATION_ERROR naming the block when one of its references begins with nothing that there is. */
export function refuseUnknownRoots(nodeId: string, config: unknown): void {
  for (const path of pathsIn(config)) {
    if (referenceRoots.has(path[0])) continue
    const known = [...referenceRoots].join(', ')
    throw problem('VALIDATION_ERROR', `${nodeId}: {{${path.join('.').slice(0, 100)}}} must begin with one of ${known}`)
  }
}

/**
 * Replaces the references in a value, in one pass: what they lead to is not looked at again. A text that is one reference and nothing else
 * becomes that value with its type; in any other text a value is written as its text. What leads nowhere is empty text. Throws
 * VALIDATION_ERROR when the values that are written into texts have more than 1 MB together, so that it takes some 10 ms at most.
 */
export function renderTemplate(value: unknown, lookup: Lookup, budget: ComputeBudget): unknown {
  let written = 0
  const write = (found: unknown): string => {
    const text = toBoundedText(found)
    written += text.length
    if (written > automationLimits.renderedCharacters) throw tooLong()
    return text
  }
  const renderText = (text: string): unknown => {
    budget.takeSteps(text.length >> 9)
    const [whole] = text.matchAll(reference)
    if (!whole) return text
    budget.takeSteps(1)
    if (whole[0].length === text.trim().length) {
      const path = pathOf(whole[1] ?? '')
      return path ? (lookup(path) ?? '') : text
    }
    const before = written
    const rendered = text.replaceAll(reference, (braces, inside: string) => {
      budget.takeSteps(1)
      const path = pathOf(inside)
      return path ? write(lookup(path)) : braces
    })
    budget.takeSteps((written - before) >> 8)
    return rendered
  }
  const renderPart = (part: unknown): unknown => {
    if (typeof part === 'string') return renderText(part)
    if (Array.isArray(part)) return part.map(renderPart)
    if (!isJsonObject(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, renderPart(item)]))
  }
  return renderPart(value)
}

const tooLong = () =>
  problem(
    'VALIDATION_ERROR',
    `a setting may have at most ${automationLimits.renderedCharacters} characters once its references are replaced; refer to less`,
  )

/** A value's text, as `textOf` makes it. Throws VALIDATION_ERROR when it has parts and its JSON more than 1 MB. */
export function toBoundedText(value: unknown): string {
  if (hasParts(value) && isLongJson(value, automationLimits.renderedCharacters)) throw tooLong()
  return toText(value)
}

/** What a path leads to in a value, by its own keys and the places of its lists alone. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    if (Array.isArray(found) && part === 'length') return undefined
    found = (found as Readonly<Record<string, unknown>>)[part]
  }
  return found
}

/** A value as it is written into a text: JSON where it has parts, empty for nothing. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  return jsonNumberText(value) ?? (typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/**
 * A value without numbers that JavaScript cannot hold: such a one reads as text with all of its digits (decisions, Exact decimals). One that a
 * double holds stays a number, however it is written: `1.10`, `1e2`.
 */
export function toPlainJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (JSON.isRawJSON(value)) return plainNumber(value.rawJSON)
  if (Array.isArray(value)) return value.map(toPlainJson)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlainJson(item)]))
}

/** The same for values of any size. Gives the thread back between their parts. */
export const toPlainJsonInSlices = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(value, { leaf: (part) => (JSON.isRawJSON(part) ? plainNumber(part.rawJSON) : part) }, budget)

const plainNumber = (text: string): number | string => (isExactDouble(text) ? Number(text) : text)

export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value)

/** Settings as texts, without those that are blank. */
export const readFilledTexts = (settings: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isJsonObject(settings) ? settings : {}).flatMap(([name, value]) => {
      const written = toText(value).trim()
      return written === '' ? [] : [[name, written]]
    }),
  )
