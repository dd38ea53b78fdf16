import { problem } from '#shared/platform/kernel/errors.ts'

/** The maximum length of a key in bytes of UTF-8. */
const maxKeyBytes = 1024

/** Whether a key is that of a folder. */
export const isFolder = (key: string): boolean => key.endsWith('/')

/**
 * Returns the key if it keeps the rules (docs/contract/drive.md#keys); throws VALIDATION_ERROR naming the broken rule. A key is text, not a
 * path: `..` has no meaning. A key may come in any Unicode form; `requirePlace` decides under which form it is stored.
 */
export function checkKey(key: string, field = 'key'): string {
  const broken = rules.find(([breaks]) => breaks(key))
  if (broken) throw problem('VALIDATION_ERROR', `${field} ${broken[1]}`)
  return key
}

/** As `checkKey`, for the key of a file, which must not end with /. */
export function checkFileKey(key: string, field = 'key'): string {
  if (isFolder(checkKey(key, field))) throw problem('VALIDATION_ERROR', `${field} of a file must not end with /`)
  return key
}

/** As `checkKey`, for the key of a folder, which must end with /. With `allowsTop`, empty text is the top folder. */
export function checkFolderKey(key: string, field: string, allowsTop = false): string {
  if (allowsTop && key === '') return key
  if (!isFolder(checkKey(key, field))) throw problem('VALIDATION_ERROR', `${field} must end with /`)
  return key
}

const rules: readonly (readonly [breaks: (key: string) => boolean, rule: string])[] = [
  [(key) => key === '', 'must not be empty'],
  [
    (key) => Math.min(Buffer.byteLength(key), Buffer.byteLength(key.normalize('NFC'))) > maxKeyBytes,
    `must have at most ${maxKeyBytes} bytes`,
  ],
  [(key) => !key.isWellFormed(), 'must be well-formed Unicode'],
  [(key) => key.startsWith('/'), 'must not start with /'],
  [(key) => key.includes('//'), 'must not contain //'],
  [(key) => key.includes('\\'), 'must not contain a backslash'],
  [(key) => /\p{Cc}/u.test(key), 'must not contain control characters'],
]

/** The last part of a key: the name of a file, or of a folder without its slash. */
export const nameOfKey = (key: string): string => key.slice(key.lastIndexOf('/', key.length - 2) + 1).replace(/\/$/, '')

/** The prefixes whose shares apply to a key: the top, every folder that contains it, and the key itself. */
export function prefixesOf(key: string): string[] {
  const prefixes = ['']
  for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) prefixes.push(key.slice(0, at + 1))
  if (key !== '' && !isFolder(key)) prefixes.push(key)
  return prefixes
}

/** Text that sorts after every key: the highest code point, repeated once more often than fits into a key. */
const lastKey = '\u{10FFFF}'.repeat(maxKeyBytes / 4 + 1)

/** A range of keys in byte order: from `first` up to but not including `end`. */
export interface KeyRange {
  readonly first: string
  readonly end: string
}

/**
 * The keys of a file (its own only) or of a folder (its own and all below it). A folder's range ends with `0` in place of the last `/`,
 * since `0` follows `/` in byte order; a file's range ends with U+0001 appended, which no key contains.
 */
export function rangeOf(key: string): KeyRange {
  if (key === '') return { first: '', end: lastKey }
  return { first: key, end: isFolder(key) ? `${key.slice(0, -1)}0` : `${key}\u0001` }
}

/** Temporary keys of a folder while it moves to one of its own parents. No caller can send them. */
export const movingKeys: KeyRange = { first: '\u0001', end: '\u0002' }
