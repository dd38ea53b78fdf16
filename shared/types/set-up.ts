import { builder } from '#shared/db/builder.ts'
import type { Executor } from '#shared/db/database.ts'
import { build, sql } from '#shared/db/statement.ts'
import { builtin } from '#shared/types/builtin.ts'
import { makeBuiltinType } from '#shared/types/builtin-store.ts'
import { schemaOf } from '#shared/types/tables.ts'

const activate = sql(
  'activate_workspace',
  `update workspaces set status = 'active', builtin_version = $2 where id = $1 and status = 'provisioning' returning id`,
)

/** Makes a new workspace's schema and built-in types and opens it. Doing it again, also at the same time, changes nothing. */
export async function createWorkspaceTables(db: Executor, workspaceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const opened = await tx.query(activate(workspaceId, builtin.version))
    if (opened.length === 0) return
    await tx.query(build(builder.raw('create schema ??', [schemaOf(workspaceId)])))
    for (const type of builtin.types) await makeBuiltinType(tx, workspaceId, type)
  })
}
