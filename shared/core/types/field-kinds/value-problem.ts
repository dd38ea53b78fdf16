import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

const shownCharacters = 60

/** The VALIDATION_ERROR for a value that breaks a rule: `values.total must be a number, got "ten"`. Throw what it returns. */
export const invalidValueProblem = (path: string, rule: string, input: unknown): Problem =>
  problem('VALIDATION_ERROR', `${path} must be ${rule}, got ${describeValue(input)}`)

/** A value for the eyes of the caller who sent it: JSON, cut short. */
export function describeValue(input: unknown): string {
  const text = jsonNumberText(input) ?? JSON.stringify(input) ?? String(input)
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters).toWellFormed()}…`
}
