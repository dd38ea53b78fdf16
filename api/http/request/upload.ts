import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { type BodyArrival, watchArrival } from '#api/http/request/arrival.ts'
import { refuseCompressed } from '#api/http/request/body.ts'
import type { OpenBody } from '#api/http/request/body-memory.ts'
import { findFilePart } from '#api/http/request/multipart.ts'
import { sizeText } from '#api/http/request/size-text.ts'
import type { ArrivingFile, Upload } from '#api/http/route.ts'
import { type JobFileServices, storeJobFile } from '#shared/platform/jobs/job-files.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * Streams the file of a request into storage: the raw body, or the part named `file` of multipart/form-data. Throws VALIDATION_ERROR for
 * another content type, a missing part, and a body that is invalid, too large or stalls; then no byte is stored.
 */
export async function receiveUpload(
  { ctx, open }: { readonly ctx: Context; readonly open: OpenBody },
  upload: SizedUpload,
  workspaceId: string,
  place: JobFileServices,
): Promise<ReceivedFile> {
  const { kept, fields } = await receiveFile(ctx.req, upload, open, ({ bytes, contentType, charset }) =>
    storeJobFile(place, workspaceId, bytes, { contentType: `${contentType}${charset === '' ? '' : `; charset=${charset}`}`.slice(0, 200) }),
  )
  return { id: kept.id, body: uploadFingerprint(kept.sha256, fields) }
}

/** A file in storage, and the fingerprint of the whole body. */
export interface ReceivedFile {
  readonly id: string
  readonly body: Buffer
}

/** Result of `keep`, with the fields of the form. */
export interface KeptFile<Kept> {
  readonly kept: Kept
  readonly fields: ReadonlyMap<string, string>
}

/** Fingerprint of an upload: the digest of its file, computed by storage, and its fields (docs/contract/conventions.md#idempotency). */
export const uploadFingerprint = (sha256: string, fields: ReadonlyMap<string, string>): Buffer =>
  Buffer.from(JSON.stringify([sha256, ...[...fields].sort()]))

/** An upload whose limit is known. */
export type SizedUpload = Upload & { readonly maxBytes: number }

/** Hands the file of a request to `keep` while it arrives, and waits for the rest of the request. Throws as `receiveUpload` does. */
export async function receiveFile<Kept>(
  request: IncomingMessage,
  upload: SizedUpload,
  open: OpenBody,
  keep: (file: ArrivingFile) => Promise<Kept>,
): Promise<KeptFile<Kept>> {
  refuseCompressed(request)
  refuseLength(request, upload)
  const arrival = watchArrival(request)
  const { hold, release } = open(arrival.fail)
  try {
    const { contentType, charset, name, pieces, whole } = await openFile(request, arrival, upload)
    const kept = await keep({ contentType, charset, name, hold, bytes: arriving(pieces, arrival, whole, upload.maxBytes) })
    return { kept, fields: await arrival.unlessFailed(whole) }
  } finally {
    release()
    arrival.release()
  }
}

/** Reads all of a file into memory, for `keep` where it is small. */
export async function readWholeFile({ bytes, hold }: ArrivingFile): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) {
    pieces.push(piece)
    hold(piece.length)
  }
  return Buffer.concat(pieces)
}

/** A file that has begun to arrive. */
interface OpenedFile {
  readonly contentType: string
  readonly charset: string
  readonly name: string
  readonly pieces: AsyncIterator<Uint8Array>
  /** The form's other fields; resolves when the whole form has arrived. */
  readonly whole: Promise<ReadonlyMap<string, string>>
}

const noFields: ReadonlyMap<string, string> = new Map()

async function openFile(
  request: IncomingMessage,
  arrival: BodyArrival,
  { contentTypes, maxBytes, form, fields = {} }: SizedUpload,
): Promise<OpenedFile> {
  const contentType = request.headers['content-type'] ?? ''
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'multipart/form-data' && form !== false) {
    // Unknown fields are refused below `/v1` (docs/contract/conventions.md#unknown-keys).
    const known = request.url?.startsWith('/v1/') ? Object.keys(fields) : undefined
    const part = await findFilePart(request, arrival, maxBytes, known)
    return { ...part, pieces: part.bytes.iterator() }
  }
  if (contentTypes !== 'any' && !contentTypes.includes(type)) {
    const types = form === false ? contentTypes : ['multipart/form-data', ...contentTypes]
    throw problem('VALIDATION_ERROR', `content-type must be ${types.join(', ').replace(/, (?=[^,]*$)/, ' or ')}, got ${type || 'none'}`)
  }
  // The request must not be destroyed when its reader stops, since the answer is still to be sent.
  return { contentType, charset: '', name: '', pieces: request.iterator({ destroyOnReturn: false }), whole: Promise.resolve(noFields) }
}

/** The pieces of a stream until it ends and `whole` is fulfilled, or the arrival fails. */
async function* arriving(
  pieces: AsyncIterator<Uint8Array>,
  { failed, unlessFailed }: BodyArrival,
  whole: Promise<unknown>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const next = () => pieces.next().catch((error: unknown) => (isCutOff(error) ? failed : Promise.reject(error)))
  let size = 0
  for (let piece = await unlessFailed(next()); !piece.done; piece = await unlessFailed(next())) {
    size += piece.value.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    yield piece.value
  }
  await unlessFailed(whole)
}

/** Node's error for a request whose connection broke; the arrival reports it. */
const isCutOff = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'ECONNRESET'

/** Refuses a raw body whose declared length is too large. The length of a form is not checked, since a form is larger than its file. */
function refuseLength({ headers }: IncomingMessage, { contentTypes, maxBytes, form }: SizedUpload): void {
  const type = headers['content-type']?.toLowerCase() ?? ''
  const isForm = form !== false && type.startsWith('multipart/form-data')
  const isRaw = !isForm && (contentTypes === 'any' || contentTypes.some((one) => type.startsWith(one)))
  if (isRaw && Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
}

const tooLarge = (maxBytes: number) => problem('VALIDATION_ERROR', `file must be at most ${sizeText(maxBytes)}`)
