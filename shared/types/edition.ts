import { builder } from '#shared/db/builder.ts'
import type { Tx } from '#shared/db/database.ts'
import { build, sql } from '#shared/db/statement.ts'
import type { RecordType } from '#shared/types/record-type.ts'
import { editionColumnOf } from '#shared/types/tables.ts'

const raise = sql('raise_edition', 'update record_types set edition = edition + 1 where workspace_id = $1 and id = $2 returning edition')

/**
 * Begins a new edition of a type, for a change after which records are to be written otherwise: by another formula, under other rules. Once
 * this returns, every write from a picture of before is either committed or will fail with "undefined column" and be done again from a new
 * picture (shared/records/picture.ts); no other write of the type's records happens until the transaction ends. It changes the catalogue
 * alone and costs the writes nothing. Call it inside `changeTable`, with the type locked.
 */
export async function startEdition(tx: Tx, { workspaceId, id, schema, key, editionColumn }: RecordType): Promise<void> {
  const [row] = await tx.query<{ edition: number }>(raise(workspaceId, id))
  if (row)
    await tx.query(
      build(builder.raw('alter table ??.?? rename column ?? to ??', [schema, key, editionColumn, editionColumnOf(row.edition)])),
    )
}
