import { basename, extname } from 'node:path'
import { reservedFieldKeys } from '#shared/core/types/keys.ts'
import { toLatin } from './latin.ts'

/** Maximum characters of the key of a field and of a type (document 1, Limits). */
const maxFieldKey = 64
const maxTypeKey = 32

/** Derives a field key from a column name: `companyName` is `company_name`, `2nd` is `field_2nd`, an empty name `column_<position>`. */
export const makeFieldKey = (header: string, position: number): string => keyOf(header, 'field', maxFieldKey) ?? `column_${position}`

/** Derives a type key from a file name without folder and extension. */
export const makeTypeKey = (file: string): string => keyOf(basename(file, extname(file)), 'type', maxTypeKey) ?? 'imported'

/** Returns the key, with the lowest number appended that makes it unused. Reserved keys count as used. */
export function freeKey(key: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`
    const candidate = key.slice(0, maxFieldKey - suffix.length) + suffix
    if (!taken.has(candidate) && !reservedFieldKeys.has(candidate)) return candidate
  }
}

/** Words of Latin letters and digits, joined by `_`; undefined when the text has none. Camel case is split into words. */
function keyOf(text: string, prefix: string, maxLength: number): string | undefined {
  const words = toLatin(text)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z]{2,})/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
  if (words.length === 0) return undefined
  const joined = words.join('_')
  const key = /^[a-z]./.test(joined) ? joined : `${prefix}_${joined}`
  return key.slice(0, maxLength).replace(/_$/, '')
}
