import type { RecordAccess } from '#shared/access/record-access.ts'
import type { Scope } from '#shared/access/scope.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { requireAccess, withRecordType } from '#shared/records/picture.ts'
import { type RecordView, type Row, recordOf, type StoredRecord, viewOf } from '#shared/records/record.ts'
import { findById } from '#shared/records/statements.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** One record as the caller sees it. NOT_FOUND when it is absent or its caller may not read it; FORBIDDEN when no record of the type may be read. */
export function getRecord(scope: Scope, typeKey: string, recordId: string): Promise<RecordView> {
  return withRecordType(scope, typeKey, async (type) => {
    const access = requireAccess(scope, type, 'records:read')
    const record = await findRecord(scope, type, recordId)
    if (!record || !access.test(record)) throw problem('NOT_FOUND')
    return visibleView(type, record, access)
  })
}

/** One record by its id, whoever asks; undefined when there is none. */
export async function findRecord(
  scope: Pick<Scope, 'db'>,
  type: RecordType,
  recordId: string,
  lock = false,
): Promise<StoredRecord | undefined> {
  if (!isUuid(recordId)) return undefined
  const [row] = await scope.db.query<Row>(findById(type, { lock })({ id: recordId }))
  return row && recordOf(type, row)
}

/** A record that passed `access.test`, with the fields that it shows. */
export const visibleView = (type: RecordType, record: StoredRecord, access: RecordAccess): RecordView =>
  viewOf(type, record, access.alwaysVisible ? undefined : access.visibleFields(record))
