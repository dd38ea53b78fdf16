import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A computed field whose records may hold results of an earlier formula; `reads` are the fields which that formula read. */
export interface StaleField {
  readonly id: string
  readonly reads: readonly string[]
}

const find = sql(
  'find_stale_fields',
  'select id, stale_reads as reads from fields where workspace_id = $1 and type_id = $2 and stale_reads is not null',
)
/** Reads the stale fields of a type, bypassing the cache. Call it before a recompute of all records, to clear exactly these afterwards. */
export const findStaleFields = ({ db }: Pick<PlatformScope, 'db'>, { workspaceId, id }: RecordType): Promise<StaleField[]> =>
  db.query<StaleField>(find(workspaceId, id))

const freshen = sql(
  'freshen_fields',
  `update fields set stale_reads = null from json_to_recordset($2::json) as seen (id uuid, reads text[])
   where fields.workspace_id = $1 and fields.id = seen.id and fields.stale_reads = seen.reads`,
)
/** Marks fields as fresh after a recompute of all records. A field whose formula changed meanwhile stays stale until its own recompute. */
export async function clearStaleReads(
  { db }: Pick<PlatformScope, 'db'>,
  workspaceId: string,
  fields: readonly StaleField[],
): Promise<void> {
  if (fields.length > 0) await db.query(freshen(workspaceId, JSON.stringify(fields)))
}
