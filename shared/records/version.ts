import { createHash } from 'node:crypto'
import { problem } from '#shared/kernel/errors.ts'
import type { StoredRecord } from '#shared/records/record.ts'

/** The ETag of a record: another one after every change of it, whoever looks. */
export const versionOf = ({ id, updated_at }: StoredRecord): string =>
  `"${createHash('sha256').update(`${id} ${updated_at}`).digest('base64url').slice(0, 22)}"`

/**
 * Throws PRECONDITION_FAILED when a record has changed since the caller read it: when If-Match names other versions than the stored one
 * (RFC 9110, section 13.1.1). Without If-Match, or with `*`, every version will do.
 */
export function requireVersion(stored: StoredRecord, ifMatch: string): void {
  if (ifMatch === '' || ifMatch.trim() === '*') return
  const versions = ifMatch.split(',').map((version) => version.trim())
  if (!versions.includes(versionOf(stored))) throw problem('PRECONDITION_FAILED')
}
