import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** Parts of a value handled between two pauses; they take about 20 to 100 µs. */
const partsPerPause = 256

/** Budget steps charged for `partsPerPause` parts. */
const stepsPerPause = 64

/** Whether a JSON value is a list or an object. */
export const hasParts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !JSON.isRawJSON(value)

/** Replacements that a copy makes. */
export interface CopyOptions {
  /** Replaces a value that is no list or object. */
  readonly leaf?: (value: unknown) => unknown
  /** Replaces an item of an object, with its name, before the item is copied. */
  readonly item?: (name: string, item: unknown) => readonly [name: string, item: unknown]
}

/** Copies a JSON value of any size; yields the thread between its parts. */
export async function copyJson(
  value: unknown,
  { leaf = sameValue, item = sameItem }: CopyOptions,
  budget: ComputeBudget,
): Promise<unknown> {
  const count = createCounter(budget)
  const copyItems = async (names: readonly string[], from: Readonly<Record<string, unknown>>, to: Record<string, unknown>) => {
    for (const name of names) {
      const [newName, part] = item(name, from[name])
      if (count()) await budget.pause()
      const copied = hasParts(part) ? await copy(part) : leaf(part)
      // An assignment to `__proto__` would not create an own key.
      Object.defineProperty(to, newName, { value: copied, enumerable: true, configurable: true, writable: true })
    }
    return to
  }
  const copy = async (parts: object): Promise<unknown> => {
    if (!Array.isArray(parts)) return copyItems(Object.keys(parts), parts as Readonly<Record<string, unknown>>, {})
    const list: unknown[] = []
    for (const part of parts) {
      if (count()) await budget.pause()
      list.push(hasParts(part) ? await copy(part) : leaf(part))
    }
    return list
  }
  return hasParts(value) ? copy(value) : leaf(value)
}

/**
 * Throws VALIDATION_ERROR with `message` when the value's JSON has more than `maxLength` characters. It stops at that length, so a value
 * that contains the same part many times costs no more. Escapes are not counted: the JSON of an accepted value may be up to six times as
 * long.
 */
export async function requireJsonSize(value: unknown, maxLength: number, message: string, budget: ComputeBudget): Promise<void> {
  const count = createCounter(budget)
  let length = 0
  const add = (more: number): void => {
    length += more
    if (length > maxLength) throw problem('VALIDATION_ERROR', message)
  }
  const measure = async (parts: object): Promise<void> => {
    const isList = Array.isArray(parts)
    const items = parts as Readonly<Record<string, unknown>>
    for (const name of isList ? parts.keys() : Object.keys(parts)) {
      if (count()) await budget.pause()
      add(isList ? 1 : 4 + (name as string).length)
      const part = items[name]
      if (hasParts(part)) await measure(part)
      else add(leafLength(part))
    }
    add(1)
  }
  if (hasParts(value)) await measure(value)
  else add(leafLength(value))
}

/** Whether a value's JSON has more than `maxLength` characters, as `requireJsonSize` counts them. It visits at most `maxLength` parts. */
export function isLongJson(value: unknown, maxLength: number): boolean {
  let length = 0
  const measure = (parts: unknown): boolean => {
    length += 1
    if (!hasParts(parts)) length += leafLength(parts)
    else if (Array.isArray(parts)) return parts.some(measure)
    else return Object.keys(parts).some((name) => measure(name) || measure((parts as Readonly<Record<string, unknown>>)[name]))
    return length > maxLength
  }
  return measure(value)
}

const leafLength = (value: unknown): number => (typeof value === 'string' ? value.length + 2 : (jsonNumberText(value)?.length ?? 4))

/** Creates a function that counts a part and returns true when a pause may be due. */
function createCounter(budget: ComputeBudget): () => boolean {
  let parts = 0
  return () => {
    parts += 1
    if (parts % partsPerPause !== 0) return false
    budget.takeSteps(stepsPerPause)
    return true
  }
}

const sameValue = (value: unknown): unknown => value
const sameItem = (name: string, item: unknown): readonly [string, unknown] => [name, item]
