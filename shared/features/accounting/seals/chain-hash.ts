import { createHash, type Hash } from 'node:crypto'
import type { StoredEntry } from '#shared/features/accounting/entries/store.ts'

/**
 * Computes the hash of a seal: SHA-256 over lines of JSON, each ended by a line feed. The first line holds the previous hash and `until`;
 * each further line is an entry, in the order of recording. README.md specifies the format, so callers can compute it themselves.
 */
export class ChainHash {
  readonly #hash: Hash = createHash('sha256')
  #entries = 0

  constructor(previous: string | null, until: string) {
    this.#addLine({ previous, until })
  }

  /** Number of entries added so far. */
  get entries(): number {
    return this.#entries
  }

  add(entry: StoredEntry): void {
    this.#entries += 1
    this.#addLine(canonicalEntry(entry))
  }

  /** The hash in hexadecimal; no entry can be added afterwards. */
  digest(): string {
    return this.#hash.digest('hex')
  }

  #addLine(line: object): void {
    this.#hash.update(`${JSON.stringify(line)}\n`)
  }
}

/** The immutable part of an entry; the key order is part of the hash. Amounts have six fraction digits in every currency. */
const canonicalEntry = ({ id, date, memo, source_type, source_id, total, currency, created_at, reverses, lines }: StoredEntry) => ({
  id,
  date,
  memo,
  source_type,
  source_id,
  total,
  currency,
  created_at,
  reverses,
  lines: lines.map(({ id, account_id, debit, credit, memo }) => ({ id, account_id, debit, credit, memo })),
})
