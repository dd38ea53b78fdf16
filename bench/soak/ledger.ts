import type { Reply } from '#bench/soak/client.ts'
import type { Place } from '#bench/soak/places.ts'

/** Whether a request was carried out, as its caller knows: answered with success, refused, or unknown. */
export type Known = 'yes' | 'no' | 'maybe'

/** A requested record, and its possible states at the end. */
export interface Expected {
  readonly place: Place
  /** Value of the field `mark`, which no other request sends. */
  readonly mark: string
  /** The file of an imported row; the rows of a file exist all or not at all. */
  readonly group?: string
  made: Known
  id?: string
  number?: string
  /** Value of `notes`, unless a change had no known result. */
  notes: string
  /** Texts that changes wrote to `notes`. */
  readonly changes: Map<string, Known>
  gone: Known
}

/** Requests and answers as the callers remember them. */
export interface Ledger {
  readonly expected: ReadonlyMap<string, Expected>
  /** Returns a text that was not used before. */
  readonly mark: (kind: string) => string
  readonly expect: (place: Place, mark: string, notes: string, group?: string) => Expected
}

export function openLedger(): Ledger {
  const expected = new Map<string, Expected>()
  let count = 0
  return {
    expected,
    mark: (kind) => `${kind} ${++count}`,
    expect: (place, mark, notes, group) => {
      const one: Expected = { place, mark, made: 'maybe', notes, changes: new Map(), gone: 'no', ...(group ? { group } : {}) }
      expected.set(mark, one)
      return one
    },
  }
}

/** What an answer says about its request: a server failure may come after the change. */
export const knownBy = ({ status }: Reply): Known =>
  status >= 200 && status < 300 ? 'yes' : status >= 400 && status < 500 ? 'no' : 'maybe'
