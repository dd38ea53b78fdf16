import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { BodyArrival } from '#api/http/request/arrival.ts'
import { sizeText } from '#api/http/request/size-text.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { unknownKeyProblem } from '#shared/platform/kernel/known-keys.ts'
import { isCleanText } from '#shared/platform/kernel/values/json.ts'

/** Limits of a form beside its file. */
const limits = { fields: 20, fieldSize: 64 * 1024, files: 5, parts: 25, headerPairs: 50 } as const

/** Maximum size of boundaries, headers and fields, in bytes. */
const overheadBytes = 2 * 1024 * 1024

/** The part named `file` of a form that is still arriving. */
export interface FilePart {
  readonly contentType: string
  /** The charset that the part declares, which the parser drops from `contentType`; empty for none. */
  readonly charset: string
  /** File name in the form, without a path; empty without one. */
  readonly name: string
  readonly bytes: Readable
  /** The other fields, which may follow the file. Resolves when the whole form has arrived and is valid. */
  readonly whole: Promise<ReadonlyMap<string, string>>
}

/**
 * Finds the part named `file` of multipart/form-data, with or without a file name. Throws VALIDATION_ERROR when it is missing, when the form
 * is invalid, and for a part that is not in `known`, if given. An error after the part has begun fails the arrival.
 */
export async function findFilePart(
  request: IncomingMessage,
  arrival: BodyArrival,
  maxBytes: number,
  known: readonly string[] | undefined,
): Promise<FilePart> {
  const parser = openParser(request)
  const refuse = (message: string, cause?: unknown) => {
    request.unpipe(parser)
    arrival.fail(problem('VALIDATION_ERROR', message, { cause }))
  }
  const found = Promise.withResolvers<FilePart>()
  const whole = Promise.withResolvers<ReadonlyMap<string, string>>()
  const fields = new Map<string, string>()
  const named = new Set<string>()
  // `files` counts all files, `named` those named `file`.
  const counts = { fields: 0, files: 0, named: 0 }
  parser.on('file', (name, bytes, fileName, _encoding, contentType) => {
    bytes.on('error', (error: Error) => refuse(describeInvalid(error), error))
    if (known && name !== 'file' && !known.includes(name) && isCleanText(name)) {
      return refuse(unknownKeyProblem(name, name, [...known, 'file'], 'this form').message)
    }
    if (name !== 'file' && fileName === undefined) {
      counts.fields += 1
      if (counts.fields > limits.fields) return refuse(`body must have at most ${limits.fields} fields beside the file`)
      if (known?.includes(name) && named.has(name)) return refuse(`${name} must be sent once`)
      named.add(name)
      return readField(name, bytes, (value) => fields.set(name, value), refuse)
    }
    counts.files += 1
    if (counts.files > limits.files) return refuse('body must hold one file, in the part named file')
    if (name !== 'file') return void bytes.resume()
    counts.named += 1
    if (counts.named > 1) return refuse('body must hold one file, in the part named file')
    if (!isCleanText(fileName ?? '')) return refuse('the name of the file holds a NUL character')
    found.resolve({ bytes, contentType, charset: charsetOfPart(head), name: fileName ?? '', whole: whole.promise })
  })
  parser.on('partsLimit', () => refuse(`body must have at most ${limits.parts} parts`))
  parser.on('error', (error) => refuse(describeInvalid(error as Error), error))
  parser.on('finish', () => (counts.named > 0 ? whole.resolve(fields) : refuse('file is required: a part named file that holds the file')))
  let size = 0
  // The head of the file's part is in the last bytes before the part begins.
  let head = ''
  request.on('data', (piece: Buffer) => {
    size += piece.length
    if (counts.named === 0) head = `${head}${piece.toString('latin1')}`.slice(-maxHeadBytes - piece.length)
    if (size > maxBytes + overheadBytes) refuse(`body must be at most ${sizeText(maxBytes + overheadBytes)}`)
  })
  request.pipe(parser)
  return arrival.unlessFailed(found.promise)
}

/** Bytes before the file that are searched for the head of its part: parsers allow heads of 80 KB. */
const maxHeadBytes = 80 * 1024

/** The charset of the part named `file` in the text up to its begin; empty for none. */
function charsetOfPart(text: string): string {
  const heads = text.split('\r\n\r\n').map((part) => part.slice(part.lastIndexOf('\r\n--') + 1))
  const own = heads.find((head) => /^content-disposition:[^\r\n]*\bname="?file"?(?:;|\s|$)/im.test(head)) ?? ''
  const [, quoted, plain] = /^content-type:[^\r\n]*;\s*charset\s*=\s*(?:"([^"\r\n]*)"|([^\s;"]+))/im.exec(own) ?? []
  return quoted ?? plain ?? ''
}

/** Reads a field's bytes, since the parser would replace invalid UTF-8 by another character instead of refusing it. */
function readField(name: string, bytes: Readable, keep: (value: string) => void, refuse: (message: string) => void): void {
  const pieces: Buffer[] = []
  let size = 0
  bytes.on('data', (piece: Buffer) => {
    size += piece.length
    if (size > limits.fieldSize) return refuse(`${name} must have at most ${limits.fieldSize} bytes`)
    pieces.push(piece)
  })
  bytes.on('end', () => {
    const value = Buffer.concat(pieces)
    if (!isUtf8(value)) return refuse(`${name} must be UTF-8`)
    if (!isCleanText(name) || !isCleanText(value.toString())) return refuse('a field beside the file holds a NUL character')
    keep(value.toString())
  })
}

const describeInvalid = (error: Error): string => `body is not valid multipart/form-data: ${error.message}`

function openParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  const contentType = request.headers['content-type'] ?? ''
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      limits: { parts: limits.parts, headerPairs: limits.headerPairs },
      isPartAFile: () => true,
    })
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `content-type is not valid multipart/form-data: ${(cause as Error).message}`, { cause })
  }
}
