import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireRecordAccess, withRecordType } from '#shared/core/records/access.ts'
import { readFieldSelection } from '#shared/core/records/query/field-selection.ts'
import { readFieldKeys } from '#shared/core/records/query/read-search.ts'
import { type RecordRow, type RecordView, rowToRecordView, type StoredRecord, toRecord, toRecordView } from '#shared/core/records/record.ts'
import { findRecordById } from '#shared/core/records/store.ts'
import { recordEtag } from '#shared/core/records/version.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** One record as the caller sees it. NOT_FOUND when it is absent or its caller may not read it; FORBIDDEN when no record of the type may be read. */
export async function getRecord(scope: Scope, typeKey: string, recordId: string): Promise<RecordView> {
  return (await getRecordWithEtag(scope, typeKey, recordId)).record
}

/** The same with the record's ETag, and with the chosen fields alone when `fields` names some. */
export function getRecordWithEtag(
  scope: Scope,
  typeKey: string,
  recordId: string,
  fields?: string,
): Promise<{ readonly record: RecordView; readonly etag: string }> {
  return withRecordType(scope, typeKey, async (type) => {
    const access = requireRecordAccess(scope, type, 'records:read')
    const chosen = readFieldSelection(type, access, readFieldKeys(fields))
    const record = await findRecord(scope, type, recordId)
    if (!record || !access.test(record)) throw problem('NOT_FOUND')
    return { record: toVisibleView(type, record, access, chosen), etag: recordEtag(record) }
  })
}

/** One record by its id, whoever asks; undefined when there is none. */
export async function findRecord(
  scope: Pick<Scope, 'db' | 'verification'>,
  type: RecordType,
  recordId: string,
  lock = false,
): Promise<StoredRecord | undefined> {
  if (!isUuid(recordId)) return undefined
  const statement = asArrays(findRecordById(type, { lock })({ id: recordId }))
  const [row] = lock ? await scope.db.query<RecordRow>(statement) : await readRows<RecordRow>(scope, statement)
  return row && toRecord(type, row)
}

/** The rows that a statement with `access.where` found, as the caller sees them. */
export function toVisibleViews(
  type: RecordType,
  rows: readonly RecordRow[],
  access: RecordAccess,
  chosen?: ReadonlySet<string>,
): RecordView[] {
  if (access.alwaysVisible && !chosen) return rows.map((row) => rowToRecordView(type, row))
  return rows.map((row) => toVisibleView(type, toRecord(type, row), access, chosen))
}

/** A record that passed `access.test`, with the fields that it shows, of those chosen where some are. */
export function toVisibleView(type: RecordType, record: StoredRecord, access: RecordAccess, chosen?: ReadonlySet<string>): RecordView {
  if (access.alwaysVisible) return toRecordView(type, record, chosen)
  const visible = access.visibleFields(record)
  return toRecordView(type, record, chosen ? visible.intersection(chosen) : visible)
}
