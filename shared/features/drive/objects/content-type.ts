import { extname } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import { extension, lookup } from 'mime-types'

/** Number of bytes at the start of a file that determine its type: the longest signature of a known type needs this many. */
export const headLength = 4_100

/** The sender's claims about a file. */
interface Claims {
  /** The file's name, read for its ending. */
  readonly name: string
  /** The type that its sender named. */
  readonly type: string
}

/**
 * The content type of a file, by its first bytes. The claims decide only what bytes cannot: the name and the sender's type among kinds of
 * text, the name alone among kinds of archives and where the bytes are unknown (docs/contract/drive.md#content-types).
 */
export async function detectContentType(head: Buffer, claims: Claims): Promise<string> {
  // `lookup` would take a name without an ending, such as `js`, for the ending itself.
  const typeByName = lookup(extname(claims.name)) || undefined
  const declared = normalizeType(claims.type)
  const marked = decodeUtf16(head)
  if (marked !== undefined) return textTypeOf(marked, typeByName, declared)
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime
  if (found !== undefined && !isTextual(found))
    return archiveTypes.has(found) && typeByName !== undefined && isPassive(typeByName) ? typeByName : found
  if (found === undefined && !isProbablyText(head))
    return typeByName !== undefined && isPassive(typeByName) ? typeByName : 'application/octet-stream'
  return textTypeOf(head.toString('utf8'), typeByName, declared)
}

/** Whether browsers may show a file of this type instead of saving it (docs/contract/drive.md#inline-types). */
export const isInline = (type: string): boolean => inlineTypes.has(type)

/** Whether a file of this type is audio or video. */
export const isPlayable = (type: string): boolean => /^(?:audio|video)\//.test(type)

const inlineTypes: ReadonlySet<string> = new Set([
  ...['image/png', 'image/apng', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'image/x-icon', 'image/tiff'],
  ...['image/heic', 'image/heif', 'image/jxl', 'application/pdf', 'text/plain'],
  ...['video/mp4', 'video/webm', 'video/ogg', 'video/quicktime', 'video/mpeg', 'video/x-m4v', 'video/3gpp'],
  ...[
    'audio/mpeg',
    'audio/mp4',
    'audio/x-m4a',
    'audio/aac',
    'audio/ogg',
    'audio/opus',
    'audio/wav',
    'audio/flac',
    'audio/x-flac',
    'audio/webm',
  ],
])

/** Archive types that office documents use. */
const archiveTypes: ReadonlySet<string> = new Set(['application/zip', 'application/x-cfb'])

/** Whether browsers neither show nor run the type. Unless the bytes are text, a name may only lead to such types. */
const isPassive = (type: string): boolean => !isInline(type) && !isTextual(type) && !/^(?:image|audio|video)\//.test(type)

const isTextual = (type: string): boolean =>
  /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|sql|toml|x-sh|rtf)$/.test(type) || type === 'image/svg+xml'

/** A claimed type without parameters, in lower case; undefined for one that has no known file ending. */
const normalizeType = (type: string): string | undefined => {
  const plain = type.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]+\/[\w.+-]+$/.test(plain) && extension(plain) ? plain : undefined
}

/**
 * The type of a text. A text that begins with a tag gets an active claimed type in `ml` (html, xml), otherwise the type of its markup. Any
 * other text gets a claimed type of text, an active one first, or `text/plain`.
 */
function textTypeOf(text: string, typeByName: string | undefined, declared: string | undefined): string {
  const claimed = [typeByName, declared].filter((type) => type !== undefined && isTextual(type))
  const markup = markupOf(text)
  const active = claimed.find((type) => type !== undefined && isActive(type))
  if (markup !== undefined) return active !== undefined && /ml$/.test(active) ? active : markup
  return active ?? claimed[0] ?? 'text/plain'
}

/** Whether a browser would run the text or resolve references in it. */
const isActive = (type: string): boolean => /(?:javascript|ecmascript|html|[/+]xml)$/.test(type)

/** The type of text that begins with a tag, possibly after a byte order mark and blanks; undefined for other text. */
function markupOf(text: string): string | undefined {
  const start = text.replace(/^\uFEFF?\s*/, '')
  if (!/^<[a-z!?/]/i.test(start)) return undefined
  if (/<svg[\s>]/i.test(start)) return 'image/svg+xml'
  return /^<\?xml/i.test(start) && !/<html[\s>]/i.test(start) ? 'application/xml' : 'text/html'
}

/**
 * The text of bytes that begin with a byte order mark of UTF-16; undefined for other bytes. The mark of little-endian text alone would pass
 * for the start of MPEG audio.
 */
function decodeUtf16(head: Buffer): string | undefined {
  const encoding = { fffe: 'utf-16le', feff: 'utf-16be' }[head.toString('hex', 0, 2)]
  if (encoding === undefined) return undefined
  try {
    // As a stream, since the head may end between the two halves of a character.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true })
    return hasControls(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Whether bytes may be text: their only control bytes are those that occur in text. */
const isProbablyText = (head: Buffer): boolean => !head.some((byte) => byte < 32 && !textControls.has(byte))
const hasControls = (text: string): boolean => [...text].some((char) => char < ' ' && !textControls.has(char.charCodeAt(0)))
const textControls: ReadonlySet<number> = new Set([8, 9, 10, 12, 13, 27])
