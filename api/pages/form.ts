import type { Field } from '#api/pages/field.ts'
import type { Problem } from '#shared/kernel/errors.ts'

/**
 * A failure by the field that its message names first, in words for people: `password must have at least 8 characters` stands beside the
 * field password as `New password must have …`. One that names none of the fields stands beside the first.
 */
export function fieldErrors(fields: readonly Field[], failure: Problem | undefined): Readonly<Record<string, string>> {
  if (!failure) return {}
  const [, name = '', rest = ''] = /^([\w.[\]-]+)( .*)$/s.exec(failure.message) ?? []
  const named = fields.find((field) => field.name === name)
  if (named) return { [named.name]: named.label + rest }
  const [first] = fields
  return first ? { [first.name]: failure.message } : {}
}
