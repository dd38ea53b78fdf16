import { problem } from '#shared/platform/kernel/errors.ts'

/**
 * The field of each header column, null for a column that names no field (document 1, Import). Throws VALIDATION_ERROR when two columns
 * name the same field or no column names a field.
 */
export function matchColumns<Field extends { readonly key: string }>(
  header: readonly string[],
  fields: readonly Field[],
): readonly (Field | null)[] {
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const columns = header.map((name) => byKey.get(name) ?? null)
  const duplicate = columns.find((field, index) => field !== null && columns.indexOf(field) < index)
  if (duplicate) throw problem('VALIDATION_ERROR', `file has more than one column ${duplicate.key}`)
  if (!columns.some((field) => field !== null)) {
    throw problem('VALIDATION_ERROR', `file must have a header row that names a field, such as ${fields[0]?.key ?? 'name'}`)
  }
  return columns
}
