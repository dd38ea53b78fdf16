import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Db } from '#test/support/rows.ts'

/** Makes a principal the creator of about a third of a type's records, and nobody that of the others. */
export async function assignCreator(db: Db, workspaceId: string, typeKey: string, principalId: string): Promise<void> {
  await db.query(
    `update "${schemaOf(workspaceId)}"."${typeKey}" set created_by = case when get_byte(uuid_send(id), 15) % 3 = 0 then $1::uuid end`,
    [principalId],
  )
}
