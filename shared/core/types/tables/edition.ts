import type { RecordType } from '#shared/core/types/record-type.ts'
import { renameEdition } from '#shared/core/types/tables/store.ts'
import { editionColumnOf } from '#shared/core/types/tables/table-names.ts'
import { raiseEdition } from '#shared/core/types/types/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'

/**
 * Starts a new edition of a type, for a change after which records must be written differently: with another formula or other rules. Once
 * this returns, every write with earlier type metadata is either committed or fails with "undefined column" and is retried with new
 * metadata (shared/core/records/access.ts); no other write of the type's records happens until the transaction ends. It changes only the
 * catalogue and adds no cost to writes. Call it inside `changeTable`, with the type locked.
 */
export async function startEdition(tx: Tx, { workspaceId, id, schema, key, editionColumn }: RecordType): Promise<void> {
  const [row] = await tx.query<{ edition: number }>(raiseEdition(workspaceId, id))
  if (row) await renameEdition(tx, schema, key, editionColumn, editionColumnOf(row.edition))
}
