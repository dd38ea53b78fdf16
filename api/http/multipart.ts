import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { Arrival } from '#api/http/arrival.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isCleanText } from '#shared/kernel/json.ts'

/** What a form may hold beside the file; more is refused. */
const limits = { fields: 20, fieldSize: 64 * 1024, files: 5, parts: 25, headerPairs: 50 }

/** Room for boundaries, headers and fields beside the file. */
const overheadBytes = 2 * 1024 * 1024

/** The part named `file` of a form that is still arriving. */
export interface FilePart {
  readonly contentType: string
  /** The name that the form gives it, without a path; empty where it has none. */
  readonly name: string
  readonly bytes: Readable
  /** Resolves to the other fields, once the whole form has arrived and was well formed: they may stand behind the file. */
  readonly whole: Promise<ReadonlyMap<string, string>>
}

/**
 * Finds the part named `file` of multipart/form-data, whether it has a file name or not. Throws VALIDATION_ERROR when there is none or the
 * form is broken; what is found wrong after the part began fails the arrival.
 */
export async function findFilePart(request: IncomingMessage, arrival: Arrival, maxBytes: number): Promise<FilePart> {
  const parser = openParser(request)
  const refuse = (message: string, cause?: unknown) => {
    request.unpipe(parser)
    arrival.fail(problem('VALIDATION_ERROR', message, { cause }))
  }
  const found = Promise.withResolvers<FilePart>()
  const whole = Promise.withResolvers<ReadonlyMap<string, string>>()
  const fields = new Map<string, string>()
  let files = 0
  parser.on('field', (name, value, _nameTruncated, isTruncated) => {
    if (isTruncated) return refuse(`${name} must have at most ${limits.fieldSize} bytes`)
    if (!isCleanText(name) || !isCleanText(value)) return refuse('a field beside the file holds a NUL character')
    fields.set(name, value)
  })
  parser.on('file', (name, bytes, fileName, _encoding, contentType) => {
    bytes.on('error', (error: Error) => refuse(broken(error), error))
    if (name !== 'file') return void bytes.resume()
    files += 1
    if (files > 1) return refuse('body must hold one file, in the part named file')
    if (!isCleanText(fileName ?? '')) return refuse('the name of the file holds a NUL character')
    found.resolve({ bytes, contentType, name: fileName ?? '', whole: whole.promise })
  })
  parser.on('filesLimit', () => refuse('body must hold one file, in the part named file'))
  parser.on('partsLimit', () => refuse(`body must have at most ${limits.parts} parts`))
  parser.on('fieldsLimit', () => refuse(`body must have at most ${limits.fields} fields beside the file`))
  parser.on('error', (error) => refuse(broken(error as Error), error))
  parser.on('finish', () => (files > 0 ? whole.resolve(fields) : refuse('file is required: a part named file that holds the file')))
  let size = 0
  request.on('data', (piece: Buffer) => {
    size += piece.length
    if (size > maxBytes + overheadBytes) refuse(`body must be at most ${Math.floor((maxBytes + overheadBytes) / 1024 / 1024)} MB`)
  })
  request.pipe(parser)
  return Promise.race([found.promise, arrival.failed])
}

const broken = (error: Error): string => `body is not valid multipart/form-data: ${error.message}`

function openParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  const contentType = request.headers['content-type'] ?? ''
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits,
      isPartAFile: (name, _contentType, fileName) => name === 'file' || fileName !== undefined,
    })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `content-type is not valid multipart/form-data: ${(cause as Error).message}`, { cause })
  }
}
