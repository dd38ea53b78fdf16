import type { Field } from '#api/pages/field.ts'
import type { Problem } from '#shared/kernel/errors.ts'
import { isCleanText } from '#shared/kernel/json.ts'

/** The hidden field that names the attempt of a hosted page, so that the same page sent again is one sending. No field of a form has its name. */
export const attemptField = 'id'

/** The attempt that a page's form names; undefined without one that can be a key, which then counts as one sending. */
export function attemptIn(sent: URLSearchParams): string | undefined {
  const id = sent.get(attemptField) ?? ''
  return id !== '' && id.length <= 255 && isCleanText(id) ? id : undefined
}

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
