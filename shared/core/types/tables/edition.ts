import type { RecordType } from '#shared/core/types/record-type.ts'
import { renameEdition } from '#shared/core/types/tables/store.ts'
import { editionColumnOf } from '#shared/core/types/tables/table-names.ts'
import { raiseEdition } from '#shared/core/types/types/store.ts'
import type { Tx } from '#shared/platform/db/database.ts'

/**
 * Begins a new edition of a type, for a change after which records are to be written otherwise: by another formula, under other rules. Once
 * this returns, every write from a picture of before is either committed or will fail with "undefined column" and be done again from a new
 * picture (shared/core/records/access.ts); no other write of the type's records happens until the transaction ends. It changes the catalogue
 * alone and costs the writes nothing. Call it inside `changeTable`, with the type locked.
 */
export async function startEdition(tx: Tx, { workspaceId, id, schema, key, editionColumn }: RecordType): Promise<void> {
  const [row] = await tx.query<{ edition: number }>(raiseEdition(workspaceId, id))
  if (row) await renameEdition(tx, schema, key, editionColumn, editionColumnOf(row.edition))
}
