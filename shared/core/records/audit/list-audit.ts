import { canSeeWholeAudit, findAuditAccess, type TypeAuditAccess } from '#shared/core/records/audit/audit-access.ts'
import type { AuditEntry, AuditPage, AuditQuery } from '#shared/core/records/audit/schemas.ts'
import { auditPageStatement, findTypeKeys } from '#shared/core/records/audit/store.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { takeFittingItems } from '#shared/platform/db/lists.ts'
import { asHeavy } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * A page of the entries that match, newest first, with their exact number (document 1, Audit query parameters). An entry shows no more
 * than its reader may see of the record as it is now: those of records that it may not read are left out and not counted, and so are
 * fields that are hidden from it. Throws VALIDATION_ERROR that names a bad parameter.
 */
export async function listAuditEntries(scope: Scope, query: AuditQuery): Promise<AuditPage> {
  const readers = canSeeWholeAudit(scope) ? undefined : findAuditAccess(scope, await typesOf(scope, query.object_type))
  const statement = asHeavy(auditPageStatement(scope.workspace.id, query, readers), 'the choice of entries')
  const rows = await scope.db.query<AuditEntry & { total: number; together: number }>(statement)
  const entries = rows.filter(({ id }) => id !== null).map(({ total, together, ...entry }) => entry)
  const total = rows[0]?.total ?? 0
  if (entries.length === 0 && total > query.offset) throw tooLong(query.limit)
  const shown = readers ? await masked(scope, entries, readers) : entries
  // One letter takes six as JSON at most.
  const mayBeLong = Number(rows[0]?.together ?? 0) > 1_000_000
  if (mayBeLong && takeFittingItems(shown).length < shown.length) throw tooLong(query.limit)
  return { entries: shown, total }
}

const tooLong = (limit: number) =>
  problem('VALIDATION_ERROR', `limit must be less than ${limit} here: together these entries have more than 10 MB`)

async function typesOf(scope: Scope, key: string | undefined): Promise<RecordType[]> {
  const keys = key === undefined ? await scope.db.query<{ key: string }>(findTypeKeys(scope.workspace.id)) : [{ key }]
  const types = await Promise.all(keys.map((each) => findRecordType(scope, each.key)))
  return types.filter((type) => type !== undefined)
}

/** The entries without what is hidden from the caller. */
async function masked(scope: Scope, entries: readonly AuditEntry[], readers: readonly TypeAuditAccess[]): Promise<AuditEntry[]> {
  const byType = Map.groupBy(entries, ({ object_type }) => object_type)
  const concerned = readers.filter(({ type }) => byType.has(type.key))
  const viewers = await Promise.all(
    concerned.map(async (reader) => [reader.type.key, await viewerOf(scope, reader, byType.get(reader.type.key) ?? [])] as const),
  )
  const shows = new Map(viewers)
  return entries.map((entry) => {
    const cut = (values: AuditEntry['before']) =>
      values && only(values, (key) => shows.get(entry.object_type)?.(entry.record_id, key) ?? false)
    return { ...entry, before: cut(entry.before), after: cut(entry.after) }
  })
}

/** Records that are in memory at once where they may be long. */
const longTogether = 5

/** Whether the caller may see a field of a record. */
type Viewer = (recordId: string, key: string) => boolean

/** The viewer of a type: of a record that is gone it shows only the fields that no rule could hide. */
async function viewerOf(scope: Scope, reader: TypeAuditAccess, entries: readonly AuditEntry[]): Promise<Viewer> {
  const { type, access, showsDeletedFields } = reader
  const ids = access.alwaysVisible ? [] : [...new Set(entries.map(({ record_id }) => record_id))]
  const together = type.longRecords ? longTogether : ids.length
  const visible = new Map<string, ReadonlySet<string>>()
  for (let from = 0; from < ids.length; from += together) {
    const records = await findRecordsByIds(scope, type, ids.slice(from, from + together))
    for (const record of records) visible.set(record.id, access.visibleFields(record))
  }
  return (recordId, key) => {
    if (!type.fieldByKey.has(key)) return showsDeletedFields
    return !access.hideable.has(key) || (visible.get(recordId)?.has(key) ?? false)
  }
}

const only = (values: Readonly<Record<string, unknown>>, shows: (key: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => shows(key)))
