import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { requireRecordAccess } from '#shared/core/records/access.ts'
import { readFieldKeys, readFieldSelection } from '#shared/core/records/query/read-search.ts'
import { listPage, listPageBytes } from '#shared/core/records/query/read-store.ts'
import { toShownViews } from '#shared/core/records/query/shown-columns-store.ts'
import { toVisibleViews } from '#shared/core/records/read.ts'
import { type RecordView, rowId } from '#shared/core/records/record.ts'
import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { countFieldUse, countRuleUses } from '#shared/core/types/indexes/count-use.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { takeFittingItems } from '#shared/platform/db/lists.ts'
import { asArrays, asSearch, asUnprepared, type Statement } from '#shared/platform/db/statements/statement.ts'
import { makeIdCursor, readIdCursor } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

export interface ListQuery {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly ref_field?: string | undefined
  readonly ref_id?: string | undefined
  /** Keys of the fields to show, separated by commas; absent: all fields. */
  readonly fields?: string | undefined
}

export interface RecordPage {
  readonly records: RecordView[]
  /** Absent on the last page. */
  readonly next_cursor?: string
}

/**
 * A page of the records that the caller may read, newest first, by cursor (docs/contract/records.md#plain-listing). A page ends early when
 * its text becomes too long.
 */
export async function listRecords(scope: Scope, typeKey: string, query: ListQuery): Promise<RecordPage> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  const selected = readFieldSelection(type, access, readFieldKeys(query.fields))
  const reference = readReference(type, access, query)
  if (reference) countFieldUse(scope, reference.field, 'reference')
  countRuleUses(scope, type.fields, access)
  const after = query.cursor === undefined ? undefined : readIdCursor(scope, query.cursor)
  const isSearch = reference !== undefined || access.verdict === 'some'
  const read = <Row>(statement: Statement<Row>) => {
    const planned = reference?.field.type === 'refs' ? asUnprepared(statement) : statement
    return readRows(scope, asArrays(isSearch ? asSearch(planned, reference ? 'ref_id' : null, access.limitingRoles) : planned))
  }
  const given = { after, refId: reference?.id, limit: query.limit + 1 }
  if (type.longRecords) {
    const [measured] = await read(listPageBytes(type, access, reference?.field, after !== undefined)(given))
    await scope.admitAnswer?.(measured?.[0] as number)
  }
  const rows = await read(listPage(type, access, reference?.field, after !== undefined)(given))
  const found = type.longRecords ? ((rows[0]?.at(-1) ?? 0) as number) : rows.length
  const page = rows.slice(0, query.limit)
  const records = type.longRecords
    ? await takeFittingItems(scope.db, toShownViews(type, page, access, selected))
    : toVisibleViews(type, page, access, selected)
  const last = page[records.length - 1]
  return found > records.length && last ? { records, next_cursor: makeIdCursor(scope, rowId(last)) } : { records }
}

/** Parses `ref_field` and `ref_id`. Throws VALIDATION_ERROR when only one is given or the field is no reference that the caller may see. */
function readReference(type: RecordType, access: RecordAccess, query: ListQuery): { field: Field; id: string } | undefined {
  const { ref_field, ref_id } = query
  if (ref_field === undefined && ref_id === undefined) return undefined
  if (ref_field === undefined || ref_id === undefined) throw problem('VALIDATION_ERROR', 'ref_field and ref_id must be given together')
  const field = type.fieldByKey.get(ref_field)
  if (!field || !isReference(field) || access.hideable.has(ref_field)) {
    throw problem('VALIDATION_ERROR', `ref_field must be a ref or refs field of ${type.key}, got ${ref_field}`)
  }
  if (!isUuid(ref_id)) throw problem('VALIDATION_ERROR', 'ref_id must be a record id')
  return { field, id: ref_id }
}

const isReference = ({ type }: Field): boolean => type === 'ref' || type === 'refs'
