import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireRecordAccess } from '#shared/core/records/access.ts'
import { readFieldKeys, readFieldSelection } from '#shared/core/records/query/read-search.ts'
import {
  type RecordRow,
  type RecordView,
  recordEtag,
  rowToRecordView,
  type StoredRecord,
  toRecord,
  toRecordView,
} from '#shared/core/records/record.ts'
import { findRecordById } from '#shared/core/records/store.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A record as the caller sees it. NOT_FOUND when it is absent or unreadable, FORBIDDEN when the caller may read none of the type. */
export async function getRecord(scope: Scope, typeKey: string, recordId: string): Promise<RecordView> {
  return (await getRecordWithEtag(scope, typeKey, recordId)).record
}

/** Same as `getRecord`, with the record's ETag. `fields`, keys separated by commas, limits the fields. */
export async function getRecordWithEtag(
  scope: Scope,
  typeKey: string,
  recordId: string,
  fields?: string,
): Promise<{ readonly record: RecordView; readonly etag: string }> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const selected = readFieldSelection(type, access, readFieldKeys(fields))
  const record = await findRecord(scope, type, recordId)
  if (!record || !access.test(record)) throw problem('NOT_FOUND')
  return { record: toVisibleView(type, record, access, selected), etag: recordEtag(record) }
}

/** The record of an id, without a check of rights; undefined when it does not exist. `lock` locks it until the transaction ends. */
export async function findRecord(
  scope: Pick<Scope, 'db' | 'verification'>,
  type: RecordType,
  recordId: string,
  lock = false,
): Promise<StoredRecord | undefined> {
  if (!isUuid(recordId)) return undefined
  const statement = asArrays(findRecordById(type, { lock })({ id: recordId }))
  const [row] = lock ? await scope.db.query(statement) : await readRows(scope, statement)
  return row && toRecord(type, row)
}

/** Rows as the caller sees them. Their statement must have applied `access.where`. */
export function toVisibleViews(
  type: RecordType,
  rows: readonly RecordRow[],
  access: RecordAccess,
  selected?: ReadonlySet<string>,
): RecordView[] {
  if (access.alwaysVisible && !selected) return rows.map((row) => rowToRecordView(type, row))
  return rows.map((row) => toVisibleView(type, toRecord(type, row), access, selected))
}

/** A record as the caller sees it, limited to the selected fields. The record must have passed `access.test`. */
export function toVisibleView(type: RecordType, record: StoredRecord, access: RecordAccess, selected?: ReadonlySet<string>): RecordView {
  if (access.alwaysVisible) return toRecordView(type, record, selected)
  const visible = access.visibleFields(record)
  return toRecordView(type, record, selected ? visible.intersection(selected) : visible)
}
