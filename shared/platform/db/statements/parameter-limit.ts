import { problem } from '#shared/platform/kernel/errors.ts'

/** PostgreSQL's protocol counts the parameters of a statement in 16 bits. */
const maxParameters = 65_535

/**
 * Throws FORBIDDEN when a statement would have more parameters than PostgreSQL takes. Only the conditions of a caller's rules can be so many,
 * where an earlier release let them grow or where a search repeats them for each masked field (docs/decisions/sizes-of-rules.md).
 */
export function requireFewParameters(values: readonly unknown[]): void {
  if (values.length <= maxParameters) return
  throw problem(
    'FORBIDDEN',
    `The rules of your roles have more conditions than a statement can hold: ${values.length} values, and at most ${maxParameters} fit. ` +
      'Ask for fewer or shorter conditions',
  )
}
