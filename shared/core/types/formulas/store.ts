import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, readRecordType } from '#shared/core/types/record-type.ts'
import { lockType } from '#shared/core/types/types/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { json, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** A computed field whose records may hold results of an earlier formula; `reads` are the fields which that formula read. */
export interface StaleField {
  readonly id: string
  readonly reads: readonly string[]
}

const selectStaleFields = statement(
  'types.selectStaleFields',
  'select id, stale_reads as reads from fields where workspace_id = $workspaceId and type_id = $typeId and stale_reads is not null',
  { params: { workspaceId: uuid, typeId: uuid }, columns: { id: uuid.notNull, reads: texts } },
)
/** Reads the stale fields of a type, bypassing the cache. Call it before a recompute of all records, to clear exactly these afterwards. */
export async function findStaleFields(
  { db }: Pick<PlatformScope, 'db'>,
  { workspaceId, id }: Pick<RecordType, 'workspaceId' | 'id'>,
): Promise<StaleField[]> {
  const rows = await db.query(selectStaleFields({ workspaceId, typeId: id }))
  return rows.map((row) => ({ id: row.id, reads: row.reads ?? [] }))
}

const markFresh = statement(
  'types.markFresh',
  `update fields set stale_reads = null from json_to_recordset($fields::json) as seen (id uuid, reads text[])
   where fields.workspace_id = $workspaceId and fields.id = seen.id and fields.stale_reads = seen.reads
   returning fields.key`,
  { params: { workspaceId: uuid, fields: json }, columns: { key: text.notNull } },
)
/**
 * Marks fields as fresh after a recompute of all records, in the caller's transaction. A field whose formula changed meanwhile stays stale
 * until its own recompute.
 */
export async function clearStaleReads({ db, workspace }: Scope, typeKey: string, fields: readonly StaleField[]): Promise<void> {
  if (fields.length === 0) return
  await db.query(lockType({ workspaceId: workspace.id, key: typeKey }))
  const rows = await db.query(markFresh({ workspaceId: workspace.id, fields: JSON.stringify(fields) }))
  const type = await readRecordType(db, workspace.id, typeKey)
  if (type) await reviseFields(db, type, new Set(rows.map(({ key }) => key)))
}

/** A role with a rule on a type's records that tests one of these subjects, such as `resource.stage`; no row when there is none. */
export const findTestingRole = statement(
  'types.findTestingRole',
  `select role.id from roles as role cross join lateral jsonb_array_elements(role.policy) as rule
   where role.workspace_id = $workspaceId and jsonb_exists_any(rule->'condition', $tested::text[])
     and (coalesce(rule->'resources', '[]') in ('[]', 'null') or jsonb_exists_any(rule->'resources', array['*', $typeKey::text]))
   limit 1`,
  { params: { workspaceId: uuid, typeKey: text, tested: texts }, columns: { id: uuid.notNull } },
)

const raiseRevisions = statement(
  'types.raiseRevisions',
  `update fields set revision = nextval('field_revisions') where workspace_id = $workspaceId and type_id = $typeId and key = any($keys::text[])`,
  { params: { workspaceId: uuid, typeId: uuid, keys: texts } },
)

/**
 * Gives new revisions to the fields of these keys and to all whose formulas read them, directly or through other formulas: values written
 * before derive from fields that are no longer read. The caller has read the type under its lock.
 */
export async function reviseFields(db: Executor, { workspaceId, id, fields }: RecordType, keys: ReadonlySet<string>): Promise<void> {
  const revised = new Set(keys)
  for (let size = -1; size < revised.size; ) {
    size = revised.size
    for (const { key, reads = [] } of fields) if (reads.some((read) => revised.has(read))) revised.add(key)
  }
  if (revised.size > 0) await db.query(raiseRevisions({ workspaceId, typeId: id, keys: [...revised] }))
}
