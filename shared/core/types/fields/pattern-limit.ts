import type { Field } from '#shared/core/types/fields/field.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { compilePattern } from '#shared/platform/kernel/values/pattern.ts'

/**
 * Instructions that the patterns of one type's fields may compile to together. One record is held against all of them: 300 of the largest
 * would take some 8 s of hostile text, and these 0.2 s.
 */
export const maxTypePatternSize = 20_000

/** Throws VALIDATION_ERROR when the patterns of these fields, all those of a type, are too large together. */
export function refuseLargePatterns(fields: readonly Pick<Field, 'rules'>[]): void {
  const size = fields.reduce((sum, { rules: { pattern } }) => sum + (pattern === undefined ? 0 : compilePattern(pattern).size), 0)
  if (size > maxTypePatternSize) {
    throw problem(
      'VALIDATION_ERROR',
      'rules.pattern: the patterns of a type are too large together; use smaller repeat counts or fewer patterns',
    )
  }
}
