import { problem } from '#shared/kernel/errors.ts'

/** Bytes of UTF-8 in a key (document 3, Limits). */
const maxKeyBytes = 1024

/** Whether a key is a folder's. */
export const isFolder = (key: string): boolean => key.endsWith('/')

/**
 * Checks a key by the rules of document 3 and gives it back; throws VALIDATION_ERROR that names the rule. A key is text and never a path:
 * `..` means nothing, and letters that look alike stay different.
 */
export function checkKey(key: string, field = 'key'): string {
  const broken = rules.find(([breaks]) => breaks(key))
  if (broken) throw problem('VALIDATION_ERROR', `${field} ${broken[1]}`)
  return key
}

/** The same for the key of a file. */
export function checkFileKey(key: string, field = 'key'): string {
  if (isFolder(checkKey(key, field))) throw problem('VALIDATION_ERROR', `${field} of a file must not end with /`)
  return key
}

/** The same for the key of a folder; empty text is the top where it is allowed. */
export function checkFolderKey(key: string, field: string, allowsTop = false): string {
  if (allowsTop && key === '') return key
  if (!isFolder(checkKey(key, field))) throw problem('VALIDATION_ERROR', `${field} must end with /`)
  return key
}

const rules: readonly (readonly [breaks: (key: string) => boolean, rule: string])[] = [
  [(key) => key === '', 'must not be empty'],
  [(key) => Buffer.byteLength(key) > maxKeyBytes, `must have at most ${maxKeyBytes} bytes`],
  [(key) => !key.isWellFormed(), 'must be well-formed Unicode'],
  [(key) => key.startsWith('/'), 'must not start with /'],
  [(key) => key.includes('//'), 'must not contain //'],
  [(key) => key.includes('\\'), 'must not contain a backslash'],
  [(key) => /\p{Cc}/u.test(key), 'must not contain control characters'],
]

/** The last part of a key: a file's name, or a folder's without its slash. */
export const nameOf = (key: string): string => key.slice(key.lastIndexOf('/', key.length - 2) + 1).replace(/\/$/, '')

/** Every folder that a key lies in, the top and the key itself among them: where a share can stand that reaches it. */
export function prefixesOf(key: string): string[] {
  const prefixes = ['']
  for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) prefixes.push(key.slice(0, at + 1))
  if (key !== '' && !isFolder(key)) prefixes.push(key)
  return prefixes
}

/** Greater than every key: the highest letter, once more than a key has room for. */
const lastKey = '\u{10FFFF}'.repeat(maxKeyBytes / 4 + 1)

/** A stretch of keys in the order of their bytes: from `first` on, up to `behind`, which is not in it. */
export interface KeyRange {
  readonly first: string
  readonly behind: string
}

/** The keys of a file, which is itself, or of a folder, which is all below it. `0` comes after `/`, and no key holds the letter 1. */
export function rangeOf(key: string): KeyRange {
  if (key === '') return { first: '', behind: lastKey }
  return { first: key, behind: isFolder(key) ? `${key.slice(0, -1)}0` : `${key}\u0001` }
}

/** Keys that no caller can send: where a folder lies while it moves to a place around its old one. */
export const limbo: KeyRange = { first: '\u0001', behind: '\u0002' }
