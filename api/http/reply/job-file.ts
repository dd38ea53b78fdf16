import { Reply } from '#api/http/reply/reply.ts'
import { findJobFile, type JobFileServices } from '#shared/platform/jobs/job-files.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Answers a job's file. Throws NOT_FOUND when a sweep has removed it. */
export async function jobFileReply({ db, blobs }: JobFileServices, workspaceId: string, fileId: string): Promise<Reply> {
  const file = await findJobFile(db, workspaceId, fileId)
  if (!file) throw problem('NOT_FOUND')
  const disposition = file.name ? { 'Content-Disposition': `attachment; filename="${file.name}"` } : {}
  const headers = { 'Content-Type': file.content_type, 'Content-Length': String(file.size_bytes), 'X-Content-Type-Options': 'nosniff' }
  return new Reply(() => blobs.read(file.blob_id), { ...headers, ...disposition, ...file.headers })
}
