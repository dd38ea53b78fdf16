import { exactCell, type FieldKind, plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { textFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { isCleanText } from '#shared/platform/kernel/values/json.ts'
import { compilePattern } from '#shared/platform/kernel/values/pattern.ts'

/** Maximum characters of a value (docs/contract/records.md#values), in Unicode code points. */
export const maxStringLength = 500
export const maxTextLength = 100_000

/** Reads text of at most `max` code points without NUL characters and lone surrogates; throws VALIDATION_ERROR otherwise. */
export function parseText(input: unknown, path: string, max: number): string {
  if (typeof input !== 'string') throw invalidValueProblem(path, 'text', input)
  if (!isCleanText(input)) throw invalidValueProblem(path, 'text without NUL characters and lone surrogates', input)
  if (countCharacters(input) > max) throw invalidValueProblem(path, `at most ${max} characters long`, countCharacters(input))
  return input
}

/** The number of Unicode code points in text. */
export function countCharacters(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const code = text.charCodeAt(index)
    // A high surrogate: in well-formed text the low surrogate follows it.
    if (code >= 0xd800 && code <= 0xdbff) count -= 1
  }
  return count
}

/** Checks text against `min_len`, `max_len` and `pattern`. Throws VALIDATION_ERROR. */
export function checkText(value: string, { rules }: TypedRules, path: string): void {
  const length = rules.min_len === undefined && rules.max_len === undefined ? 0 : countCharacters(value)
  if (rules.min_len !== undefined && length < rules.min_len)
    throw invalidValueProblem(path, `at least ${rules.min_len} characters long`, length)
  if (rules.max_len !== undefined && length > rules.max_len)
    throw invalidValueProblem(path, `at most ${rules.max_len} characters long`, length)
  if (rules.pattern !== undefined && !compilePattern(rules.pattern).test(value))
    throw invalidValueProblem(path, `text matching ${rules.pattern}`, value)
}

const textKind = (type: FieldType, max: number, ruleKeys: FieldKind['ruleKeys']): FieldKind<string> => ({
  ...plainKind,
  type,
  columns: ['text'],
  isText: true,
  ruleKeys,
  filter: textFilter,
  parse: (input, _field, { path }) => parseText(input, path, max),
  check: checkText,
  fromColumns: readFirstCell,
  fromCell: exactCell,
  toCell: (value) => value,
})

/** Short text, up to 500 characters; the only type with the rule `pattern`. */
export const stringKind = textKind('string', maxStringLength, ['min_len', 'max_len', 'pattern'])

/** Long text, up to 100,000 characters. */
export const longTextKind = textKind('text', maxTextLength, ['min_len', 'max_len'])
