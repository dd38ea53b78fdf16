import type { Reply } from '#bench/soak/client.ts'
import type { Place } from '#bench/soak/places.ts'

/** Whether something was done, as its caller knows it: answered with success, refused, or without an answer that says so. */
export type Known = 'yes' | 'no' | 'maybe'

/** A record that somebody asked for, and what may be true of it at the end. */
export interface Expected {
  readonly place: Place
  /** Its value of the field `mark`, which no other request sends. */
  readonly mark: string
  /** Rows of one file are all there or none is. */
  readonly group?: string
  made: Known
  id?: string
  number?: string
  /** What `notes` holds, unless a change whose end is unknown was made. */
  notes: string
  /** Texts that changes put into `notes`. */
  readonly changes: Map<string, Known>
  gone: Known
}

/** What the callers remember of what they were told. */
export interface Ledger {
  readonly expected: ReadonlyMap<string, Expected>
  /** A text that was not given out before. */
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

/** What an answer tells of its request: a failure of the server's may have come after the deed. */
export const knownBy = ({ status }: Reply): Known =>
  status >= 200 && status < 300 ? 'yes' : status >= 400 && status < 500 ? 'no' : 'maybe'
