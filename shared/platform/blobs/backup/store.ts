import { bigint, integer, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { workspace_id: uuid.notNull, id: uuid.notNull, size_bytes: bigint, sha256: text }

/** A blob that rows hold, so that its bytes are complete. Size and digest are null where no release has measured it yet. */
export type HeldBlob = RowOf<typeof columns>

/** A page of the blobs of all workspaces that rows hold, after a blob. */
export const listHeldBlobs = statement(
  'blobs.listHeldBlobs',
  `select workspace_id, id, size_bytes, sha256 from blobs
   where holders > 0 and (workspace_id, id) > ($afterWorkspace, $afterId) order by workspace_id, id limit $limit`,
  { params: { afterWorkspace: uuid, afterId: uuid, limit: bigint }, columns },
)

/** Whether rows still hold a blob. */
export const isBlobHeld = statement(
  'blobs.isBlobHeld',
  'select 1 as held from blobs where workspace_id = $workspaceId and id = $id and holders > 0',
  { params: { workspaceId: uuid, id: uuid }, columns: { held: integer.notNull } },
)
