/** A byte limit for a statement's rows. Running the statement sets `bytes` and `isWhole`. */
export interface ByteLimit {
  /**
   * The most bytes of rows, as the database sends them. The first row is always kept; the row that exceeds the limit and all later ones are
   * dropped.
   */
  readonly maxBytes: number
  /** Bytes of the kept rows. */
  bytes: number
  /** False once a row was dropped. */
  isWhole: boolean
}

/** Rows of the first fetch of a limited run. */
export const firstFetchRows = 32

/**
 * Rows of the next fetch: about as many as fit into the remaining bytes by the average size so far, 1 to 1,000. Zero once a row was
 * dropped.
 */
export function nextFetchRows({ maxBytes, bytes, isWhole }: ByteLimit, rows: number): number {
  if (!isWhole) return 0
  const average = Math.max(1, bytes / Math.max(1, rows))
  return Math.min(1_000, Math.max(1, Math.ceil((maxBytes - bytes) / average)))
}

/** Resets the count at the start of each attempt. */
export function resetByteLimit(limit: ByteLimit): void {
  limit.bytes = 0
  limit.isWhole = true
}

/** Counts a row and returns whether it is kept. */
export function isRowKept(limit: ByteLimit, rowBytes: number): boolean {
  if (!limit.isWhole || (limit.bytes > 0 && limit.bytes + rowBytes > limit.maxBytes)) {
    limit.isWhole = false
    return false
  }
  limit.bytes += rowBytes
  return true
}
