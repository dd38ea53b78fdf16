import type { KnownReferences } from '#shared/core/automation/block.ts'
import { fieldProblems, typeProblems } from '#shared/core/automation/setting-problems.ts'
import { toText } from '#shared/core/automation/template.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/** Field types whose values are the text itself. Other types parse text as an import parses a cell. */
const textTypes: ReadonlySet<FieldType> = new Set(['string', 'text', 'select', 'email', 'url', 'file', 'ref', 'date', 'datetime'])

/** The problems of a block's record type and of the values for its fields. */
export const recordSettingProblems = (
  { object_type, values = {} }: Readonly<Record<string, unknown>>,
  around: KnownReferences,
): string[] => [...typeProblems(object_type, around), ...fieldProblems(object_type, Object.keys(values as object), around, 'values')]

/**
 * Converts a block's values to input of a record: text becomes a value of its field's type (`12.5` a number, `a|b` a list), and empty text
 * becomes null. A reference may give a value that is no text: it stays as it is, but becomes text for the types in `textTypes`. A key
 * without a field stays as it is: the write of the record refuses it.
 */
export function readRecordValues(type: RecordType, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toInputValue(type.fieldByKey.get(key)?.type, value)]))
}

function toInputValue(type: FieldType | undefined, value: unknown): unknown {
  if (type === undefined || value === null || value === undefined) return value
  if (!textTypes.has(type)) {
    if (typeof value !== 'string') return value
    return value.trim() === '' ? null : fieldKinds[type].fromCell(value)
  }
  const text = toText(value)
  if (text === '') return null
  // A date field takes the day of an instant; a datetime field takes the first instant of a day, in UTC.
  if (type === 'date' && /^\d{4}-\d{2}-\d{2}T/.test(text)) return text.slice(0, 10)
  return type === 'datetime' && isDay(text) ? `${text}T00:00:00Z` : text
}
