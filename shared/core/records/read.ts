import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireAccess, withRecordType } from '#shared/core/records/access.ts'
import { chosenFields } from '#shared/core/records/query/field-selection.ts'
import { readKeys } from '#shared/core/records/query/read-search.ts'
import { type RecordView, type Row, recordOf, type StoredRecord, viewOf, viewOfRow } from '#shared/core/records/record.ts'
import { findById } from '#shared/core/records/store.ts'
import { versionOf } from '#shared/core/records/version.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** One record as the caller sees it. NOT_FOUND when it is absent or its caller may not read it; FORBIDDEN when no record of the type may be read. */
export async function getRecord(scope: Scope, typeKey: string, recordId: string): Promise<RecordView> {
  return (await getVersion(scope, typeKey, recordId)).record
}

/** The same with the record's ETag, and with the chosen fields alone when `fields` names some. */
export function getVersion(
  scope: Scope,
  typeKey: string,
  recordId: string,
  fields?: string,
): Promise<{ readonly record: RecordView; readonly etag: string }> {
  return withRecordType(scope, typeKey, async (type) => {
    const access = requireAccess(scope, type, 'records:read')
    const chosen = chosenFields(type, access, readKeys(fields))
    const record = await findRecord(scope, type, recordId)
    if (!record || !access.test(record)) throw problem('NOT_FOUND')
    return { record: visibleView(type, record, access, chosen), etag: versionOf(record) }
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
  const statement = asArrays(findById(type, { lock })({ id: recordId }))
  const [row] = lock ? await scope.db.query<Row>(statement) : await readRows<Row>(scope, statement)
  return row && recordOf(type, row)
}

/** The rows that a statement with `access.where` found, as the caller sees them. */
export function visibleRows(type: RecordType, rows: readonly Row[], access: RecordAccess, chosen?: ReadonlySet<string>): RecordView[] {
  if (access.alwaysVisible && !chosen) return rows.map((row) => viewOfRow(type, row))
  return rows.map((row) => visibleView(type, recordOf(type, row), access, chosen))
}

/** A record that passed `access.test`, with the fields that it shows, of those chosen where some are. */
export function visibleView(type: RecordType, record: StoredRecord, access: RecordAccess, chosen?: ReadonlySet<string>): RecordView {
  if (access.alwaysVisible) return viewOf(type, record, chosen)
  const visible = access.visibleFields(record)
  return viewOf(type, record, chosen ? visible.intersection(chosen) : visible)
}
