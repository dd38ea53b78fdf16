import { Reply } from '#api/http/reply.ts'
import type { Executor } from '#shared/db/database.ts'
import { problem } from '#shared/kernel/errors.ts'
import { fileStream, findJobFile } from '#shared/queue/files.ts'

/** The answer that carries a job's file; 404 when it has been swept away. */
export async function fileDownload(db: Executor, fileId: string): Promise<Reply> {
  const file = await findJobFile(db, fileId)
  if (!file) throw problem('NOT_FOUND')
  const disposition = file.name ? { 'Content-Disposition': `attachment; filename="${file.name}"` } : {}
  const headers = { 'Content-Type': file.content_type, 'Content-Length': String(file.size_bytes), 'X-Content-Type-Options': 'nosniff' }
  return new Reply(() => fileStream(db, fileId), { ...headers, ...disposition, ...file.headers })
}
