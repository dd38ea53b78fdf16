import { builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { activateWorkspace, createBuiltinType } from '#shared/core/types/builtin/store.ts'
import { createSchema } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Makes a new workspace's schema and built-in types and opens it. Doing it again, also at the same time, changes nothing. */
export async function createWorkspaceTables(db: Executor, workspaceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const opened = await tx.query(activateWorkspace(workspaceId, builtinDeclaration.version))
    if (opened.length === 0) return
    await createSchema(tx, schemaOf(workspaceId))
    for (const type of builtinDeclaration.types) await createBuiltinType(tx, workspaceId, type)
  })
}
