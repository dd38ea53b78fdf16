/** How many bytes of rows a statement may give, and what came of it: the run fills it in. */
export interface ByteLimit {
  /** Bytes as the database sends them. The first row is kept whatever its size; those from the one that exceeds this are not. */
  readonly maxBytes: number
  /** Bytes of the rows that were kept. */
  bytes: number
  /** False once a row was dropped. */
  isWhole: boolean
}

/** How many rows a bounded run asks for first. */
export const firstFetchRows = 32

/** How many rows to ask for next: about as many as fit, by the average so far. Zero where nothing more fits. */
export function nextFetchRows({ maxBytes, bytes, isWhole }: ByteLimit, rows: number): number {
  if (!isWhole) return 0
  const average = Math.max(1, bytes / Math.max(1, rows))
  return Math.min(1_000, Math.max(1, Math.ceil((maxBytes - bytes) / average)))
}

/** Resets the count. Each attempt of a statement begins with it. */
export function resetByteLimit(fit: ByteLimit): void {
  fit.bytes = 0
  fit.isWhole = true
}

/** Counts a row and says whether it is kept. */
export function isRowKept(fit: ByteLimit, rowBytes: number): boolean {
  if (!fit.isWhole || (fit.bytes > 0 && fit.bytes + rowBytes > fit.maxBytes)) {
    fit.isWhole = false
    return false
  }
  fit.bytes += rowBytes
  return true
}
