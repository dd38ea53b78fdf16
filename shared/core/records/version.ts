import type { StoredRecord } from '#shared/core/records/record.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The ETag of a record: another one after every change of it, whoever looks. The database keeps the time of a change to the microsecond. */
export const recordEtag = ({ updated_at }: Pick<StoredRecord, 'updated_at'>): string => `"${updated_at.replace(/\D/g, '')}"`

/**
 * Throws PRECONDITION_FAILED when a record has changed since the caller read it: when If-Match names other versions than the stored one
 * (RFC 9110, section 13.1.1). Without If-Match, or with `*`, every version will do.
 */
export function requireVersion(stored: StoredRecord, ifMatch: string): void {
  if (ifMatch === '' || ifMatch.trim() === '*') return
  const versions = ifMatch.split(',').map((version) => version.trim())
  if (!versions.includes(recordEtag(stored))) throw problem('PRECONDITION_FAILED')
}
