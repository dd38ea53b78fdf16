/** A byte limit for a statement's rows. The run fills in the result. */
export interface ByteLimit {
  /** Bytes as the database sends them. The first row is always kept; rows from the one that exceeds the limit are dropped. */
  readonly maxBytes: number
  /** Bytes of the kept rows. */
  bytes: number
  /** False once a row was dropped. */
  isWhole: boolean
}

/** Rows of the first fetch of a limited run. */
export const firstFetchRows = 32

/** Rows of the next fetch: about as many as limit by the average so far. Zero when no more limit. */
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
