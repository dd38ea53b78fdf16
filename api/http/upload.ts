import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { type Arrival, watchArrival } from '#api/http/arrival.ts'
import { refuseCompressed } from '#api/http/body.ts'
import { findFilePart } from '#api/http/multipart.ts'
import type { Upload } from '#api/http/route.ts'
import { problem } from '#shared/kernel/errors.ts'
import { type FilePlace, type StoredFile, storeFile } from '#shared/queue/files.ts'

/**
 * Streams the file of a request into storage: the raw body, or the part named `file` of multipart/form-data. Throws
 * VALIDATION_ERROR on another content type, a missing part, a body that is broken, too large or stalls; then nothing of it is kept.
 */
export async function receiveUpload(ctx: Context, upload: Upload, workspaceId: string, place: FilePlace): Promise<StoredFile> {
  refuseCompressed(ctx.req)
  refuseLength(ctx.req, upload)
  const arrival = watchArrival(ctx.req)
  try {
    const { bytes, contentType } = await openFile(ctx.req, arrival, upload)
    return await storeFile(place, workspaceId, limited(bytes, upload.maxBytes), { contentType: contentType.slice(0, 200) })
  } finally {
    arrival.release()
  }
}

/** A file that is still arriving. */
interface ArrivingFile {
  readonly contentType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

async function openFile(request: IncomingMessage, arrival: Arrival, { contentTypes, maxBytes }: Upload): Promise<ArrivingFile> {
  const contentType = request.headers['content-type'] ?? ''
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'multipart/form-data') {
    const part = await findFilePart(request, arrival, maxBytes)
    return { contentType: part.contentType, bytes: arriving(part.bytes.iterator(), arrival, part.whole) }
  }
  if (!contentTypes.includes(type)) {
    throw problem('VALIDATION_ERROR', `content-type must be multipart/form-data or ${contentTypes.join(', ')}, got ${type || 'none'}`)
  }
  // The request must outlive whoever stops reading it: its answer is still to be sent.
  return { contentType, bytes: arriving(request.iterator({ destroyOnReturn: false }), arrival, Promise.resolve()) }
}

/** The pieces of a stream until it ends and `whole` is fulfilled, or the arrival fails. */
async function* arriving(pieces: AsyncIterator<Uint8Array>, { failed }: Arrival, whole: Promise<void>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = await Promise.race([pieces.next().catch((error: unknown) => (isCutOff(error) ? failed : Promise.reject(error))), failed])
    if (piece.done) break
    yield piece.value
  }
  await Promise.race([whole, failed])
}

/** What Node says of a request whose connection broke off, before it says that it is closed: the arrival knows how to tell its sender. */
const isCutOff = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'ECONNRESET'

async function* limited(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield piece
  }
}

/** A raw body that says beforehand that it is too large need not be sent; a form may be larger than its file. */
function refuseLength({ headers }: IncomingMessage, { contentTypes, maxBytes }: Upload): void {
  const isRaw = contentTypes.some((type) => headers['content-type']?.toLowerCase().startsWith(type))
  if (isRaw && Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
}

const tooLarge = (maxBytes: number) => problem('VALIDATION_ERROR', `file must be at most ${Math.floor(maxBytes / 1024 / 1024)} MB`)
