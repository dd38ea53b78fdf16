import { basename, extname } from 'node:path'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'
import { toLatin } from './latin.ts'

/** Characters of a field's and of a type's key (document 1, Limits). */
const maxFieldKey = 64
const maxTypeKey = 32

/** The key that a column's name becomes: `companyName` is `company_name`; one that is none, or starts with a digit, gets a word in front. */
export const makeFieldKey = (header: string, position: number): string => keyOf(header, 'field', maxFieldKey) ?? `column_${position}`

/** The key of the record type that a file becomes: its name without folder and ending. */
export const makeTypeKey = (file: string): string => keyOf(basename(file, extname(file)), 'type', maxTypeKey) ?? 'imported'

/** The same key with the first number behind it that makes it free. Keys that every record has are never free. */
export function freeKey(key: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const candidate = key.slice(0, maxFieldKey - suffix.length) + suffix
    if (!taken.has(candidate) && !reservedFieldKeys.has(candidate)) return candidate
  }
}

/** Words of Latin letters and digits, joined by `_`; undefined when the text has none. A word ends where small letters meet a capital. */
function keyOf(text: string, inFront: string, most: number): string | undefined {
  const words = toLatin(text)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z]{2,})/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  if (words.length === 0) return undefined
  const joined = words.join('_')
  const key = /^[a-z]./.test(joined) ? joined : `${inFront}_${joined}`
  return key.slice(0, most).replace(/_$/, '')
}
