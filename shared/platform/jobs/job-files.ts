import type { Readable } from 'node:stream'
import type { Blobs } from '#shared/platform/blobs/blobs.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { bigint, jsonb, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

const columns = {
  id: uuid.notNull,
  content_type: text.notNull,
  name: text.notNull,
  /** Response headers that a download carries beside its type, such as X-Export-Truncated. */
  headers: jsonb.as<Readonly<Record<string, string>>>().notNull,
  size_bytes: bigint.notNull,
  blob_id: uuid.notNull,
}

/** The metadata of a file that a job reads or creates. */
type JobFile = RowOf<typeof columns>

/** The id and digest of a stored file. */
interface StoredJobFile {
  readonly id: string
  /** SHA-256 of its bytes. */
  readonly sha256: string
}

/** The stores of job files: metadata in the database, bytes in the blob store. */
export interface JobFileServices {
  readonly db: Executor
  readonly blobs: Blobs
}

const insertFile = statement(
  'jobs.insertFile',
  `insert into job_files (workspace_id, id, content_type, name, headers, size_bytes, blob_id)
   values ($workspaceId, $id, $contentType, $name, $headers, $sizeBytes, $blobId)`,
  { params: { workspaceId: uuid, id: uuid, contentType: text, name: text, headers: jsonb, sizeBytes: bigint, blobId: uuid } },
)
const deleteFile = statement('jobs.deleteFile', 'delete from job_files where workspace_id = $workspaceId and id = $id', {
  params: { workspaceId: uuid, id: uuid },
})
const findFile = statement('jobs.findFile', `select ${selectList(columns)} from job_files where workspace_id = $workspaceId and id = $id`, {
  params: { workspaceId: uuid, id: uuid },
  columns,
})

/**
 * Stores a stream as a job's file. When the stream fails, nothing is kept and the failure is rethrown. Files are removed a day after they
 * were stored, when their operation discards them, and with their workspace.
 */
export async function storeJobFile(
  { db, blobs }: JobFileServices,
  workspaceId: string,
  bytes: AsyncIterable<Uint8Array>,
  file: { contentType: string; name?: string; headers?: Readonly<Record<string, string>> },
): Promise<StoredJobFile> {
  const { contentType, name = '', headers = {} } = file
  const blob = await blobs.put(workspaceId, bytes)
  const id = newId()
  try {
    const stored = { sizeBytes: blob.sizeBytes, blobId: blob.id }
    await db.query(insertFile({ workspaceId, id, contentType, name, headers: JSON.stringify(headers), ...stored }))
  } catch (error) {
    await blobs.discardAfter(error, workspaceId, blob.id)
    throw error
  }
  return { id, sha256: blob.sha256 }
}

/** Finds a file's metadata; undefined when there is none. */
export async function findJobFile(db: Executor, workspaceId: string, id: string): Promise<JobFile | undefined> {
  return (await db.query(findFile({ workspaceId, id })))[0]
}

/** Opens a file's bytes; throws NOT_FOUND when it was removed. */
export async function readJobFile({ db, blobs }: JobFileServices, workspaceId: string, id: string): Promise<Readable> {
  const file = await findJobFile(db, workspaceId, id)
  if (!file) throw problem('NOT_FOUND', 'The file is not kept any more')
  return blobs.read(file.blob_id)
}

/** Removes a file; the next blob sweep removes its bytes. */
export async function discardJobFile(db: Executor, workspaceId: string, id: string): Promise<void> {
  await db.query(deleteFile({ workspaceId, id }))
}
