import type { Field } from '#api/pages/fields/field.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'
import { isCleanText } from '#shared/platform/kernel/values/json.ts'

/** Hidden field with a submission's id, so the same form sent twice counts once. No other field has this name. */
export const attemptField = 'id'

/** Reads a form's submission id; undefined when it is missing, longer than 255 characters or unclean text, so the request counts as new. */
export function readAttempt(sent: URLSearchParams): string | undefined {
  const id = sent.get(attemptField) ?? ''
  return id !== '' && id.length <= 255 && isCleanText(id) ? id : undefined
}

/**
 * Assigns a failure to the field that its message begins with, and replaces the name with the label: `password must have at least 8
 * characters` becomes `New password must have …` at the field password. A message without a field name goes to the first field.
 */
export function fieldErrors(fields: readonly Field[], failure: Problem | undefined): Readonly<Record<string, string>> {
  if (!failure) return {}
  const [, name = '', rest = ''] = /^([\w.[\]-]+)( .*)$/s.exec(failure.message) ?? []
  const named = fields.find((field) => field.name === name)
  if (named) return { [named.name]: named.label + rest }
  const [first] = fields
  return first ? { [first.name]: failure.message } : {}
}
