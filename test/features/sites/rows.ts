import type { Db } from '#test/support/rows.ts'

/** Deletes the role of a workspace's visitors, past the API. */
export async function deleteVisitorRole(db: Db, workspaceId: string): Promise<void> {
  await db.query('delete from roles where workspace_id = $1 and is_anonymous', [workspaceId])
}

/** The version of a workspace's document or file at a path. */
export async function readContentVersion(db: Db, workspaceId: string, path: string): Promise<string> {
  const { rows } = await db.query<{ version: string }>('select version from site_content where path = $2 and workspace_id = $1', [
    workspaceId,
    path,
  ])
  return rows[0]?.version ?? ''
}
