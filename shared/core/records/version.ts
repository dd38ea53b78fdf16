import type { StoredRecord } from '#shared/core/records/record.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The ETag of a record, equal for all callers. Every change alters it, because the database keeps the time of a change in microseconds. */
export const recordEtag = ({ updated_at }: Pick<StoredRecord, 'updated_at'>): string => `"${updated_at.replace(/\D/g, '')}"`

/**
 * Throws PRECONDITION_FAILED when If-Match does not name the stored version (RFC 9110, section 13.1.1). An empty `ifMatch` or `*` accepts
 * any version.
 */
export function requireVersion(stored: StoredRecord, ifMatch: string): void {
  if (ifMatch === '' || ifMatch.trim() === '*') return
  const versions = ifMatch.split(',').map((version) => version.trim())
  if (!versions.includes(recordEtag(stored))) throw problem('PRECONDITION_FAILED')
}
