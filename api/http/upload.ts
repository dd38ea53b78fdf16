import { PassThrough, type Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { Context } from 'koa'
import type { Upload } from '#api/http/route.ts'
import type { Executor } from '#shared/db/database.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { storeFile } from '#shared/queue/files.ts'

/** What a multipart body may hold beside the file; more is refused. */
const multipartLimits = { fields: 20, fieldSize: 64 * 1024, files: 1, parts: 25, headerPairs: 50 }

/**
 * Streams the file of a request into storage and returns its id: the raw body, or the part named `file` of multipart/form-data. Throws
 * VALIDATION_ERROR on another content type, a missing part, a broken or too large body; then nothing of it is kept.
 */
export async function receiveUpload(ctx: Context, upload: Upload, workspaceId: string | null, db: Executor): Promise<string> {
  const contentType = ctx.get('content-type')
  try {
    const body = isMultipart(contentType) ? filePart(ctx, upload) : rawBody(ctx, contentType, upload)
    return await storeFile(db, limited(body, upload.maxBytes), { workspaceId, contentType: contentType.slice(0, 200) })
  } catch (cause) {
    ctx.req.unpipe()
    ctx.req.resume()
    if (cause instanceof Problem || (cause as { code?: string }).code?.length === 5) throw cause
    throw problem('VALIDATION_ERROR', `body did not arrive whole: ${(cause as Error).message}`, { cause })
  }
}

const isMultipart = (contentType: string): boolean => /^multipart\/form-data\b/i.test(contentType)

function rawBody(ctx: Context, contentType: string, { contentTypes }: Upload): Readable {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const encoding = ctx.get('content-encoding')
  if (encoding && encoding !== 'identity')
    throw problem('VALIDATION_ERROR', `body must not be compressed, got content-encoding ${encoding}`)
  if (contentTypes.includes(type)) return ctx.req
  throw problem('VALIDATION_ERROR', `content-type must be multipart/form-data or ${contentTypes.join(', ')}, got ${type || 'none'}`)
}

/** The stream of the part named `file`; it fails when the body breaks off or has no such part. */
function filePart(ctx: Context, { maxBytes }: Upload): Readable {
  const part = new PassThrough()
  // It may fail before anybody reads it; whoever does then hears of it.
  part.on('error', () => undefined)
  const parser = openParser(ctx, maxBytes)
  const fail = (error: Error) => {
    ctx.req.unpipe(parser)
    ctx.req.resume()
    part.destroy(error)
  }
  let found = false
  parser.on('file', (name, stream) => {
    stream.on('error', fail)
    stream.on('limit', () => fail(problem('VALIDATION_ERROR', tooLarge(maxBytes))))
    if (name !== 'file' || found) return void stream.resume()
    found = true
    stream.on('end', () => undefined).pipe(part, { end: false })
  })
  parser.on('filesLimit', () => fail(problem('VALIDATION_ERROR', 'body must hold one file, in the part named file')))
  parser.on('partsLimit', () => fail(problem('VALIDATION_ERROR', `body must have at most ${multipartLimits.parts} parts`)))
  parser.on('fieldsLimit', () => fail(problem('VALIDATION_ERROR', `body must have at most ${multipartLimits.fields} fields`)))
  parser.on('error', (error) => fail(error as Error))
  parser.on('finish', () =>
    found ? part.end() : fail(problem('VALIDATION_ERROR', 'file is required: a part named file that holds the file')),
  )
  ctx.req.once('aborted', () => fail(new Error('the connection broke off')))
  ctx.req.pipe(parser)
  return part
}

function openParser(ctx: Context, maxBytes: number): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { ...ctx.req.headers, 'content-type': ctx.get('content-type') },
      limits: { ...multipartLimits, fileSize: maxBytes },
    })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `content-type is not valid multipart/form-data: ${(cause as Error).message}`, { cause })
  }
}

async function* limited(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > maxBytes) throw problem('VALIDATION_ERROR', tooLarge(maxBytes))
    yield piece
  }
}

const tooLarge = (maxBytes: number): string => `file must be at most ${Math.floor(maxBytes / 1024 / 1024)} MB`
