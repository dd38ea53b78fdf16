import { exactCell, type FieldKind, plainKind, readFirstCell } from '#shared/core/types/field-kinds/field-kind.ts'
import { choiceFilter } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import { listFilter, listKind, maxEntries, parseList } from '#shared/core/types/field-kinds/list.ts'
import { parseText } from '#shared/core/types/field-kinds/text.ts'
import { invalidValueProblem } from '#shared/core/types/field-kinds/value-problem.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import { texts } from '#shared/platform/db/statements/sql-types.ts'

/** Maximum options of a field, and characters of each. */
export const maxOptions = 500
export const maxOptionLength = 200

const shownOptions = 20

function checkOption(value: string, { rules: { options = [] } }: TypedRules, path: string): void {
  if (options.includes(value)) return
  const shown = options.slice(0, shownOptions).join(', ')
  throw invalidValueProblem(path, `one of ${shown}${options.length > shownOptions ? ', …' : ''}`, value)
}

const parseOption = (input: unknown, path: string): string => parseText(input, path, maxOptionLength)

const parseNewOption = (input: unknown, path: string): string => {
  const option = parseOption(input, path)
  if (option === '') throw invalidValueProblem(path, 'text that is not empty', option)
  return option
}

/** Reads the rule `options`: at least one, none empty, no duplicates. Throws VALIDATION_ERROR. */
export function parseOptions(input: unknown, path: string): readonly string[] {
  const options = parseList(input, path, { max: maxOptions, distinct: true, parseEntry: parseNewOption })
  if (options.length === 0) throw invalidValueProblem(path, 'at least one option', input)
  return options
}

/** One of the field's options. */
export const selectKind: FieldKind<string> = {
  ...plainKind,
  type: 'select',
  columns: ['text'],
  ruleKeys: ['options'],
  filter: choiceFilter,
  parse: (input, _field, { path }) => parseOption(input, path),
  check: checkOption,
  fromColumns: readFirstCell,
  fromCell: exactCell,
  toCell: (value) => value,
}

/** Several of the field's options without duplicates, in the order sent. */
export const multiselectKind: FieldKind<readonly string[]> = {
  ...listKind,
  type: 'multiselect',
  columns: ['text[]'],
  ruleKeys: ['options'],
  filter: listFilter(texts, (value) => value),
  parse: (input, _field, { path }) => parseList(input, path, { max: maxEntries, distinct: true, parseEntry: parseOption }),
  check(values, field, path) {
    for (const [index, value] of values.entries()) checkOption(value, field, `${path}[${index}]`)
  },
  fromColumns: readFirstCell,
}
