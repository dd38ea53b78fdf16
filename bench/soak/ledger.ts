import type { Reply } from '#bench/soak/client.ts'

/** A workspace of the run: records with numbers and formulas, a rule that notifies its owner of new ones, two functions. */
export interface Place {
  readonly id: string
  /** Paths of the workspace, its records, the function that creates one and the function that only waits. */
  readonly org: string
  readonly orders: string
  readonly maker: string
  readonly waiter: string
  /** Records to read and change, and records to delete, which no other request uses. */
  readonly ids: { readonly id: string; readonly mark: string }[]
  readonly doomed: string[]
  /** Marks of records with an open change; a record has one at a time. */
  readonly busy: Set<string>
}

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
