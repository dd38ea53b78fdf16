import { randomBytes } from 'node:crypto'
import type { Call } from '#test/api/walk/example.ts'

/** A place in a call where a thing of its workspace is named, with the name of the same thing in the other workspace. */
export interface Position {
  /** Such as `params.recordId` or `body.operations.0.id`; the name of a key itself ends with `*`. */
  readonly name: string
  readonly foreign: string
  /** The call with this text in that place. */
  readonly put: (text: string) => Call
}

/** Every place where two calls of the same form hold different texts: in values, in keys, and in JSON that is sent as text. */
export function positionsOf(own: Call, other: Call): Position[] {
  const found: Position[] = []
  const visit = (mine: unknown, theirs: unknown, path: readonly string[], put: (value: unknown) => unknown): void => {
    if (typeof mine === 'string') {
      if (/^[[{]/.test(mine) && typeof theirs === 'string')
        visit(JSON.parse(mine), JSON.parse(theirs), path, (value) => put(JSON.stringify(value)))
      else if (mine !== theirs && typeof theirs === 'string') {
        found.push({ name: path.join('.'), foreign: theirs, put: (text) => put(text) as Call })
      }
      return
    }
    if (typeof mine !== 'object' || mine === null || typeof theirs !== 'object' || theirs === null) return
    const entries = Object.entries(mine)
    const others = Object.entries(theirs)
    for (const [index, [key, value]] of entries.entries()) {
      const [otherKey, otherValue] = others[index] ?? [key, undefined]
      const rebuilt = (newKey: string, newValue: unknown) => put(replaced(mine, entries, index, newKey, newValue))
      if (key !== otherKey) found.push({ name: [...path, '*'].join('.'), foreign: otherKey, put: (text) => rebuilt(text, value) as Call })
      visit(value, otherValue, [...path, Array.isArray(mine) || key === otherKey ? key : '*'], (newValue) => rebuilt(key, newValue))
    }
  }
  const { client: _, ...mine } = own
  const { client: __, ...theirs } = other
  visit(mine, theirs, [], (value) => value)
  const params = Object.keys(mine.params ?? {})
  // Things that belong together, such as an account and its key, are foreign together as well.
  if (params.length > 1)
    found.push({ name: params.join(), foreign: JSON.stringify(theirs.params), put: (text) => ({ ...mine, params: JSON.parse(text) }) })
  return found
}

function replaced(whole: object, entries: readonly (readonly [string, unknown])[], index: number, key: string, value: unknown): unknown {
  const changed = entries.map((entry, at) => (at === index ? [key, value] : entry)) as [string, unknown][]
  return Array.isArray(whole) ? changed.map(([, item]) => item) : Object.fromEntries(changed)
}

const uuid = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-)[0-9a-f]{12}/g

/**
 * A text of the same form that names nothing: ids of the same time, so that pages after them begin at the same place, and another mark at
 * the end of keys.
 */
export const namesNothing = (text: string, mark: string): string =>
  text.replaceAll(uuid, (_, time: string) => `${time}${randomBytes(6).toString('hex')}`).replaceAll(mark, randomBytes(4).toString('hex'))

/** A response without the sent text, ids, times, durations and numbers of a series, which differ between any two calls. */
export function sameFor(text: string, sent: string, mark: string): string {
  const marks = [mark, /_([0-9a-f]{8})\b/.exec(sent)?.[1] ?? mark]
  return [sent, ...(sent.match(uuid) ?? []), ...marks]
    .reduce((rest, one) => rest.replaceAll(one, 'SENT'), text)
    .replaceAll(uuid, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"(\w+_ms|ms)":\d+/g, '"$1":0')
    .replaceAll(/\bORD-\d+/g, 'NUMBER')
}
