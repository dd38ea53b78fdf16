import { fileTypeFromBuffer } from 'file-type'
import { extension, lookup } from 'mime-types'

/** Bytes from a file's beginning that tell its type: as many as the longest signature of a known one needs. */
export const headBytes = 4_100

/** What is told of a file beside its bytes. */
interface Said {
  /** The file's name, for its ending. */
  readonly name: string
  /** The type that its sender named. */
  readonly type: string
}

/**
 * The type of a file, by its first bytes. What its name and its sender say only decides among kinds of text, which the bytes cannot tell
 * apart, and what is inside an archive (decisions, Drive).
 */
export async function typeOf(head: Buffer, said: Said): Promise<string> {
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime
  const ending = lookup(said.name) || undefined
  if (found !== undefined && !isTextual(found)) return containers.has(found) && ending !== undefined && isPassive(ending) ? ending : found
  if (found === undefined && !isText(head)) return ending !== undefined && isPassive(ending) ? ending : 'application/octet-stream'
  return textTypeOf(head, ending, knownType(said.type))
}

/** Whether a browser may show a file of this type instead of saving it (document 3, Drive). */
export const isInline = (type: string): boolean => inlineTypes.has(type)

/** Whether a browser plays a file of this type. */
export const isPlayed = (type: string): boolean => /^(?:audio|video)\//.test(type)

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

/** Archives in which office programs keep their files. */
const containers: ReadonlySet<string> = new Set(['application/zip', 'application/x-cfb'])

/** A type that no browser shows or runs, so that a name may claim it. */
const isPassive = (type: string): boolean => !isInline(type) && !isTextual(type) && !/^(?:image|audio|video)\//.test(type)

const isTextual = (type: string): boolean =>
  /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|sql|toml|x-sh|rtf)$/.test(type) || type === 'image/svg+xml'

/** A type that is known by an ending: any text may be sent as one. */
const knownType = (type: string): string | undefined => {
  const plain = type.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^[\w.+-]+\/[\w.+-]+$/.test(plain) && extension(plain) ? plain : undefined
}

function textTypeOf(head: Buffer, ending: string | undefined, declared: string | undefined): string {
  const said = [ending, declared].filter((type) => type !== undefined && isTextual(type))
  const markup = markupOf(head.toString('utf8'))
  const active = said.find((type) => type !== undefined && isActive(type))
  if (markup !== undefined) return active !== undefined && /ml$/.test(active) ? active : markup
  return active ?? said[0] ?? 'text/plain'
}

/** Text that a browser would run or resolve. */
const isActive = (type: string): boolean => /(?:javascript|ecmascript|html|[/+]xml)$/.test(type)

/** Text that begins as a document of tags does, behind a mark of its encoding and blanks. */
function markupOf(text: string): string | undefined {
  const start = text.replace(/^\uFEFF?\s*/, '')
  if (!/^<[a-z!?/]/i.test(start)) return undefined
  if (/<svg[\s>]/i.test(start)) return 'image/svg+xml'
  return /^<\?xml/i.test(start) && !/<html[\s>]/i.test(start) ? 'application/xml' : 'text/html'
}

/** Whether bytes read as text: none of those that no text holds. */
const isText = (head: Buffer): boolean => !head.some((byte) => byte < 32 && !textControls.has(byte))
const textControls: ReadonlySet<number> = new Set([8, 9, 10, 12, 13, 27])
