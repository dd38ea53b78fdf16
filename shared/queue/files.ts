import { Readable } from 'node:stream'
import { isOutOfReach } from '#shared/db/conflicts.ts'
import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import { newId } from '#shared/kernel/ids.ts'

/** Pieces in which a job's file is kept and carried: memory never holds more than one or two of a file. */
export const chunkBytes = 256 * 1024

/** What is known of a file that a job takes or makes. */
export interface JobFile {
  readonly id: string
  readonly content_type: string
  readonly name: string
  /** Response headers that a download carries beside its type, such as X-Export-Truncated. */
  readonly headers: Readonly<Record<string, string>>
  readonly size_bytes: number
}

const insertFile = sql(
  'insert_job_file',
  'insert into job_files (id, workspace_id, content_type, name, headers) values ($1, $2, $3, $4, $5)',
)
const insertChunk = sql('insert_job_file_chunk', 'insert into job_file_chunks (file_id, position, bytes) values ($1, $2, $3)')
const finish = sql('finish_job_file', 'update job_files set size_bytes = $2, complete = true where id = $1')
const remove = sql('remove_job_file', 'delete from job_files where id = $1')
const findFile = sql('find_job_file', 'select id, content_type, name, headers, size_bytes from job_files where id = $1 and complete')
/** Bytes of a piece that are read as one value: in the driver's hexadecimal they fit into one read of a socket, and nothing is pasted together. */
const sliceBytes = 24 * 1024
const findSlices = sql(
  'find_job_file_slices',
  `select substring(bytes from slice * ${sliceBytes} + 1 for ${sliceBytes}) as bytes
   from job_file_chunks cross join generate_series(0, (octet_length(bytes) - 1) / ${sliceBytes}) as slice
   where file_id = $1 and position = $2 order by slice`,
)

/**
 * Stores a stream as a job's file, piece by piece, and returns its id. It lies in PostgreSQL, where every API and worker process reaches
 * it. When the stream fails, what was stored of it goes again and the failure is thrown on; what is left by a killed process, or by a
 * database that went away, is swept.
 */
export async function storeFile(
  db: Executor,
  bytes: AsyncIterable<Uint8Array>,
  file: { workspaceId: string | null; contentType: string; name?: string; headers?: Readonly<Record<string, string>> },
): Promise<string> {
  const id = newId()
  await db.query(insertFile(id, file.workspaceId, file.contentType, file.name ?? '', JSON.stringify(file.headers ?? {})))
  try {
    let [position, size] = [0, 0]
    for await (const chunk of inChunks(bytes)) {
      await db.query(insertChunk(id, position, chunk))
      position += 1
      size += chunk.length
    }
    await db.query(finish(id, size))
    return id
  } catch (error) {
    if (!isOutOfReach(error)) await discardFile(db, id).catch(() => undefined)
    throw error
  }
}

/** A complete file's facts, or undefined. */
export async function findJobFile(db: Executor, id: string): Promise<JobFile | undefined> {
  return (await db.query<JobFile>(findFile(id)))[0]
}

/** A file's bytes; one stored piece is in memory at a time. */
export async function* readFile(db: Executor, id: string): AsyncGenerator<Buffer> {
  for (let position = 0; ; position++) {
    const slices = await db.query<{ bytes: Buffer }>(findSlices(id, position))
    if (slices.length === 0) return
    for (const { bytes } of slices) yield bytes
  }
}

/** The same as a stream, for a response. */
export const fileStream = (db: Executor, id: string): Readable => Readable.from(readFile(db, id), { objectMode: false })

/** Removes a file with all its pieces. */
export async function discardFile(db: Executor, id: string): Promise<void> {
  await db.query(remove(id))
}

/** Gathers a stream's own pieces into pieces of one size. */
async function* inChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    gathered.push(piece)
    length += piece.length
    if (length < chunkBytes) continue
    yield Buffer.concat(gathered)
    gathered = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(gathered)
}
