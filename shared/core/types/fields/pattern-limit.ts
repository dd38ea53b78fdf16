import type { Field } from '#shared/core/types/fields/field.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { compilePattern } from '#shared/platform/kernel/values/pattern.ts'

/**
 * Maximum compiled instructions of all patterns of one type together. One record is checked against all of them: with hostile text, 300 of
 * the largest patterns would take about 8 s; this limit takes 0.2 s.
 */
export const maxTypePatternSize = 20_000

/** Throws VALIDATION_ERROR when the patterns of all fields of a type exceed `maxTypePatternSize`. */
export function refuseLargePatterns(fields: readonly Pick<Field, 'rules'>[]): void {
  const size = fields.reduce((sum, { rules: { pattern } }) => sum + (pattern === undefined ? 0 : compilePattern(pattern).size), 0)
  if (size > maxTypePatternSize) {
    throw problem(
      'VALIDATION_ERROR',
      'rules.pattern: the patterns of a type are too large together; use smaller repeat counts or fewer patterns',
    )
  }
}
