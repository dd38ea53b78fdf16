import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { json, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
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
export async function findStaleFields({ db }: Pick<PlatformScope, 'db'>, { workspaceId, id }: RecordType): Promise<StaleField[]> {
  const rows = await db.query(selectStaleFields({ workspaceId, typeId: id }))
  return rows.map((row) => ({ id: row.id, reads: row.reads ?? [] }))
}

const markFresh = statement(
  'types.markFresh',
  `update fields set stale_reads = null from json_to_recordset($fields::json) as seen (id uuid, reads text[])
   where fields.workspace_id = $workspaceId and fields.id = seen.id and fields.stale_reads = seen.reads`,
  { params: { workspaceId: uuid, fields: json } },
)
/** Marks fields as fresh after a recompute of all records. A field whose formula changed meanwhile stays stale until its own recompute. */
export async function clearStaleReads(
  { db }: Pick<PlatformScope, 'db'>,
  workspaceId: string,
  fields: readonly StaleField[],
): Promise<void> {
  if (fields.length > 0) await db.query(markFresh({ workspaceId, fields: JSON.stringify(fields) }))
}
