import { builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { activateWorkspace, createBuiltinType } from '#shared/core/types/builtin/store.ts'
import { createSchema } from '#shared/core/types/tables/store.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'

/** Creates the schema and built-in types of a new workspace and activates it. Idempotent, also under concurrent calls. */
export async function createWorkspaceTables(db: Executor, workspaceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const activated = await tx.query(activateWorkspace({ workspaceId, version: builtinDeclaration.version }))
    if (activated.length === 0) return
    await createSchema(tx, schemaOf(workspaceId))
    for (const type of builtinDeclaration.types) await createBuiltinType(tx, workspaceId, type)
  })
}
