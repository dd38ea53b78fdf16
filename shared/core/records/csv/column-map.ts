import { problem } from '#shared/platform/kernel/errors.ts'
import { suggestSpelling } from '#shared/platform/kernel/known-keys.ts'
import { isJsonObject } from '#shared/platform/kernel/values/json-schema.ts'

/** Which field each named column of a file fills, by key; null for a column that is left out. */
export type ColumnMap = ReadonlyMap<string, string | null>

const rule = 'a JSON object of column names, each with the key of a field or null, such as {"Price": "price", "Notes": null}'

/** Parses the parameter `map` (docs/contract/records.md#parameters-of-an-import). Throws VALIDATION_ERROR. */
export function parseColumnMap(text: string): ColumnMap {
  const map = new Map<string, string | null>()
  for (const [name, key] of Object.entries(parseObject(text))) {
    if (key !== null && typeof key !== 'string')
      throw problem('VALIDATION_ERROR', `map.${shorten(name)} must be the key of a field or null`)
    if (map.has(name.trim())) throw problem('VALIDATION_ERROR', `map names the column ${quote(name.trim())} more than once`)
    map.set(name.trim(), key)
  }
  return map
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (isJsonObject(parsed)) return parsed
  } catch (cause) {
    throw problem('VALIDATION_ERROR', `map must be ${rule}; it is not JSON`, { cause })
  }
  throw problem('VALIDATION_ERROR', `map must be ${rule}`)
}

/** Throws VALIDATION_ERROR when the map names a column that the file lacks. */
export function requireMappedColumns(map: ColumnMap, header: readonly string[]): void {
  const names = new Set(header)
  const missing = [...map.keys()].find((name) => !names.has(name))
  if (missing === undefined) return
  throw problem('VALIDATION_ERROR', `map names the column ${quote(missing)}, which the file lacks${suggest(missing, header)}`)
}

/** A name in a message: quoted and at most 100 characters long. */
export const quote = (name: string): string => JSON.stringify(shorten(name))

/** Maximum characters of names that are compared, and number of names that one is compared with. A comparison takes their product. */
const compared = { length: 100, names: 300 }

/** Suggests the most similar name; nothing where the names are too long to compare. */
export function suggest(name: string, known: readonly string[]): string {
  const short = known.filter((one) => one !== '' && one.length <= compared.length).slice(0, compared.names)
  return name.length > compared.length || short.length === 0 ? '' : suggestSpelling(name, short)
}

const shorten = (name: string): string => (name.length > compared.length ? `${name.slice(0, compared.length).toWellFormed()}…` : name)
