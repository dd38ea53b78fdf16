import { canSeeWholeAudit, findAuditAccess, type TypeAuditAccess } from '#shared/core/records/audit/audit-access.ts'
import type { AuditEntry, AuditPage, AuditQuery } from '#shared/core/records/audit/schemas.ts'
import { auditPageStatement, type EntryRow, findEntries, findTypeKeys } from '#shared/core/records/audit/store.ts'
import { isOfPresentField } from '#shared/core/records/earlier-fields.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { takeFittingItems } from '#shared/platform/db/lists.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * A page of the matching entries, newest first, with their exact number (docs/contract/records.md#audit). An entry shows no more than the
 * caller may see of the record in its current state: entries of unreadable records are omitted and not counted, hidden fields are omitted.
 * Throws VALIDATION_ERROR that names a bad parameter.
 */
export async function listAuditEntries(scope: Scope, query: AuditQuery): Promise<AuditPage> {
  const readers = canSeeWholeAudit(scope) ? undefined : findAuditAccess(scope, await findTypes(scope, query.object_type))
  const statement = asSearch(auditPageStatement(scope.workspace.id, query, readers), 'the choice of entries')
  const rows = await scope.db.query(statement)
  const found = rows.flatMap(({ id, text_length }) => (id === null ? [] : { id, length: text_length ?? 0 }))
  const length = found.reduce((sum, entry) => sum + entry.length, 0)
  if (!readers && found.length > 1 && length > maxPageText) throw tooLong(query.limit)
  const read = readEntries(scope, found, readers)
  // A character takes at most six bytes in JSON, so a page of up to 1,000,000 characters stays below 10 MB.
  const entries = length > 1_000_000 ? await takeFittingItems(scope.db, read) : await Array.fromAsync(read)
  if (entries.length < found.length) throw tooLong(query.limit)
  return { entries, total: rows[0]?.total ?? 0 }
}

/** Characters of the values of several entries from which a page certainly has more than 10 MB. */
const maxPageText = 10_000_000

/** Characters of values that are read at once, hidden ones included. */
const maxStepText = 3_000_000

/** Reads entries as the caller sees them, in steps, so that hidden values fill no memory and count for no limit. */
async function* readEntries(
  scope: Scope,
  found: readonly { readonly id: string; readonly length: number }[],
  readers: readonly TypeAuditAccess[] | undefined,
): AsyncGenerator<AuditEntry> {
  for (let from = 0; from < found.length; ) {
    let to = from
    for (let length = 0; to < found.length && (to === from || length + (found[to]?.length ?? 0) <= maxStepText); to++)
      length += found[to]?.length ?? 0
    const ids = found.slice(from, to).map(({ id }) => id)
    const entries = await scope.db.query(findEntries({ workspaceId: scope.workspace.id, ids }))
    for (const entry of readers ? await maskEntries(scope, entries, readers) : entries) yield viewOf(entry)
    from = to
  }
}

function viewOf(entry: EntryRow): AuditEntry {
  const { id, actor_id, actor_type, action, object_type, record_id, before, after, request_id, created_at } = entry
  const { cause_kind: kind, cause_id, undo_of, record_created_by, record_created_at, record_updated_at } = entry
  const cause = kind && { kind, id: cause_id }
  const isKept = record_created_at !== null && record_updated_at !== null
  const record = isKept ? { created_by: record_created_by, created_at: record_created_at, updated_at: record_updated_at } : null
  const change = { id, actor_id, actor_type, action, object_type, record_id, before, after }
  return { ...change, request_id, cause, undo_of, record, created_at }
}

const tooLong = (limit: number) =>
  problem('VALIDATION_ERROR', `limit must be less than ${limit} here: together these entries have more than 10 MB`)

async function findTypes(scope: Scope, key: string | undefined): Promise<RecordType[]> {
  const keys = key === undefined ? await scope.db.query(findTypeKeys({ workspaceId: scope.workspace.id })) : [{ key }]
  const types = await Promise.all(keys.map((each) => findRecordType(scope, each.key)))
  return types.filter((type) => type !== undefined)
}

/** The entries without the fields that are hidden from the caller. */
async function maskEntries(scope: Scope, entries: readonly EntryRow[], readers: readonly TypeAuditAccess[]): Promise<EntryRow[]> {
  const byType = Map.groupBy(entries, ({ object_type }) => object_type)
  const relevant = readers.filter(({ type }) => byType.has(type.key))
  const tests = await Promise.all(
    relevant.map(async (reader) => [reader.type.key, await visibilityTestOf(scope, reader, byType.get(reader.type.key) ?? [])] as const),
  )
  const testByType = new Map(tests)
  return entries.map((entry) => {
    const mask = (values: EntryRow['before']) =>
      values && keepVisible(values, (key) => testByType.get(entry.object_type)?.(entry, key) ?? false)
    return { ...entry, before: mask(entry.before), after: mask(entry.after) }
  })
}

/** Maximum records in memory at once, of a type that has long records. */
const maxLongRecords = 5

/** Whether the caller may see the value of a key in an entry. */
type VisibilityTest = (entry: EntryRow, key: string) => boolean

/** The visibility test of a type. Of a deleted record only the fields that no rule could hide are visible. */
async function visibilityTestOf(scope: Scope, reader: TypeAuditAccess, entries: readonly EntryRow[]): Promise<VisibilityTest> {
  const { type, access, showsEarlierFields } = reader
  const ids = access.alwaysVisible ? [] : [...new Set(entries.map(({ record_id }) => record_id))]
  const step = type.longRecords ? maxLongRecords : ids.length
  const visible = new Map<string, ReadonlySet<string>>()
  for (let from = 0; from < ids.length; from += step) {
    const records = await findRecordsByIds(scope, type, ids.slice(from, from + step))
    for (const record of records) visible.set(record.id, access.visibleFields(record))
  }
  return ({ record_id, type_revision, created_at }, key) => {
    if (!isOfPresentField(type, key, { revision: type_revision, at: created_at })) return showsEarlierFields
    return !access.hideable.has(key) || (visible.get(record_id)?.has(key) ?? false)
  }
}

const keepVisible = (values: Readonly<Record<string, unknown>>, isVisible: (key: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => isVisible(key)))
