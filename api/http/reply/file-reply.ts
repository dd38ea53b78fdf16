import type { Readable } from 'node:stream'
import { create } from 'content-disposition'
import { isNotModified } from '#api/http/reply/conditions.ts'
import { Reply } from '#api/http/reply/reply.ts'
import type { ByteRange } from '#shared/platform/blobs/byte-store.ts'

/** A file to send. */
export interface SentFile {
  readonly name: string
  readonly size: number
  readonly type: string
  /** SHA-256 of its bytes: the strong validator of this version. */
  readonly sha256: string
  readonly changedAt: Date
  /** Whether a browser shows it; otherwise it is saved. */
  readonly isInline: boolean
  /** Additional headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly open: (range?: ByteRange) => Promise<Readable>
}

/** Headers of the request for a file. */
export interface FileRequest {
  readonly header: (name: string) => string
}

/**
 * Answers a whole file, a byte range of it, or 304 (docs/contract/drive.md#conditions-and-ranges). Throws PRECONDITION_FAILED like
 * `isNotModified`.
 */
export function fileReply(request: FileRequest, file: SentFile): Reply {
  const etag = `"${file.sha256}"`
  const known = { ETag: etag, 'Last-Modified': file.changedAt.toUTCString(), 'Accept-Ranges': 'bytes', ...file.headers }
  if (isNotModified(request.header, { etag, changedAt: file.changedAt })) return new Reply(null, known, 304)
  const headers = { ...known, 'Content-Type': file.type, 'Content-Disposition': dispositionOf(file), 'X-Content-Type-Options': 'nosniff' }
  const whole = () => new Reply(() => file.open(), { ...headers, 'Content-Length': String(file.size) })
  const asked = request.header('range')
  const condition = request.header('if-range')
  if (asked === '' || (condition !== '' && condition.trim() !== etag)) return whole()
  const range = readRange(asked, file.size)
  if (range === undefined) return whole()
  if (range === null) return new Reply(null, { ...known, 'Content-Range': `bytes */${file.size}` }, 416)
  const { start, end } = range
  const part = { 'Content-Range': `bytes ${start}-${end}/${file.size}`, 'Content-Length': String(end - start + 1) }
  return new Reply(() => file.open(range), { ...headers, ...part }, 206)
}

/** The file name in any script, without characters that change the reading direction of the text around it. */
const dispositionOf = ({ name, isInline }: SentFile): string =>
  create(name.toWellFormed().replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, ''), {
    type: isInline ? 'inline' : 'attachment',
  })

/**
 * The byte range that a Range header requests (RFC 9110, 14). Null when the range does not exist, which is 416; undefined for the whole
 * file, also when the header is malformed or requests several ranges. The package range-parser 1.3.0 is not used, since it wrongly answers
 * 416 to `bytes=-100` of a file of 11 bytes.
 */
function readRange(header: string, size: number): ByteRange | null | undefined {
  const [, list] = /^bytes[ \t]*=(.*)$/is.exec(header) ?? []
  if (list === undefined) return undefined
  const asked = list.split(',').map((part) => /^[ \t]*(\d*)-(\d*)[ \t]*$/.exec(part))
  if (!asked.every((part) => part !== null)) return undefined
  const parts = asked.map(([, first = '', last = '']) => ({ first, last }))
  if (parts.some(({ first, last }) => (first === '' && last === '') || (first !== '' && last !== '' && Number(first) > Number(last))))
    return undefined
  const present = parts.map(({ first, last }) => partOf(first, last, size)).filter((part) => part !== null)
  if (present.length === 0) return null
  return parts.length === 1 ? present[0] : undefined
}

function partOf(first: string, last: string, size: number): ByteRange | null {
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start <= end ? { start, end } : null
}
