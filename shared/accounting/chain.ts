import { createHash, type Hash } from 'node:crypto'
import type { StoredEntry } from '#shared/accounting/store/entries.ts'

/**
 * The hash of a seal as it grows: SHA-256 over lines of JSON, each ended by a line feed. The first holds the hash before and `until`; each
 * further one is an entry, in the order of recording. See README.md beside this file, by which anybody can compute it.
 */
export class ChainHash {
  readonly #hash: Hash = createHash('sha256')
  #entries = 0

  constructor(previous: string | null, until: string) {
    this.#add({ previous, until })
  }

  /** Entries that it covers until now. */
  get entries(): number {
    return this.#entries
  }

  cover(entry: StoredEntry): void {
    this.#entries += 1
    this.#add(canonical(entry))
  }

  /** The hash in hexadecimal; nothing can be added after it. */
  end(): string {
    return this.#hash.digest('hex')
  }

  #add(line: object): void {
    this.#hash.update(`${JSON.stringify(line)}\n`)
  }
}

/** What is fixed of an entry, in the order of its keys. Amounts have six digits behind the point whatever their currency. */
const canonical = ({ id, date, memo, source_type, source_id, total, currency, created_at, reverses, lines }: StoredEntry) => ({
  ...{ id, date, memo, source_type, source_id, total, currency, created_at, reverses },
  lines: lines.map(({ id, account_id, debit, credit, memo }) => ({ id, account_id, debit, credit, memo })),
})
