import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** Parts of a value that are handled between two checks of the clock: they take about 20 to 100 µs. */
const partsAtOnce = 256

/** Budget steps charged per `partsAtOnce` parts. */
const stepsAtOnce = 64

/** Whether a JSON value has parts: a list or an object. */
export const hasParts = (value: unknown): value is object => typeof value === 'object' && value !== null && !JSON.isRawJSON(value)

/** What a copy changes: values without parts, and items of objects by their names. */
export interface CopyOptions {
  readonly leaf?: (value: unknown) => unknown
  /** The item to copy in this one's place, under its name. */
  readonly item?: (name: string, item: unknown) => readonly [name: string, item: unknown]
}

/** Copies a JSON value of any size, and yields the thread between its parts. */
export async function copyJson(value: unknown, { leaf = same, item = sameItem }: CopyOptions, budget: ComputeBudget): Promise<unknown> {
  const count = counter(budget)
  const copyItems = async (names: readonly string[], from: Readonly<Record<string, unknown>>, to: Record<string, unknown>) => {
    for (const name of names) {
      const [newName, part] = item(name, from[name])
      if (count()) await budget.pause()
      const copied = hasParts(part) ? await copy(part) : leaf(part)
      // An own key, whatever its name: an assignment to `__proto__` is none.
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
 * Throws VALIDATION_ERROR with this message when the value's JSON has more than so many characters. It stops there, so a value that holds
 * one part many times costs no more than another. A value that passes may have up to six times as many characters, if most are escaped.
 */
export async function requireJsonSize(value: unknown, most: number, message: string, budget: ComputeBudget): Promise<void> {
  const count = counter(budget)
  let length = 0
  const add = (more: number): void => {
    length += more
    if (length > most) throw problem('VALIDATION_ERROR', message)
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

/** Whether a value's JSON has more than so many characters, by the same measure; at most so many parts are looked at. */
export function isLongJson(value: unknown, most: number): boolean {
  let length = 0
  const measure = (parts: unknown): boolean => {
    length += 1
    if (!hasParts(parts)) length += leafLength(parts)
    else if (Array.isArray(parts)) return parts.some(measure)
    else return Object.keys(parts).some((name) => measure(name) || measure((parts as Readonly<Record<string, unknown>>)[name]))
    return length > most
  }
  return measure(value)
}

const leafLength = (value: unknown): number => (typeof value === 'string' ? value.length + 2 : (jsonNumberText(value)?.length ?? 4))

/** Counts a part; returns true when the clock must be checked. */
function counter(budget: ComputeBudget): () => boolean {
  let parts = 0
  return () => {
    parts += 1
    if (parts % partsAtOnce !== 0) return false
    budget.takeSteps(stepsAtOnce)
    return true
  }
}

const same = (value: unknown): unknown => value
const sameItem = (name: string, item: unknown): readonly [string, unknown] => [name, item]
