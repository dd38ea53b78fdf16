import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

const maxShownCharacters = 60

/** The VALIDATION_ERROR for a value that breaks a rule: `values.total must be a number, got "ten"`. Returned, not thrown. */
export const invalidValueProblem = (path: string, rule: string, input: unknown): Problem =>
  problem('VALIDATION_ERROR', `${path} must be ${rule}, got ${describeValue(input)}`)

/** Renders a sent value for an error message: JSON, truncated to 60 characters. */
function describeValue(input: unknown): string {
  const text = jsonNumberText(input) ?? JSON.stringify(input) ?? String(input)
  return text.length <= maxShownCharacters ? text : `${text.slice(0, maxShownCharacters).toWellFormed()}…`
}
