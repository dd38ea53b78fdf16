import { toText } from '#shared/core/automation/template.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'

/** Types whose values are text as it stands; the others read a text as an import reads a cell. */
const plainTexts: ReadonlySet<FieldType> = new Set(['string', 'text', 'select', 'email', 'url', 'file', 'ref', 'date', 'datetime'])

/**
 * Values of a block as a record takes them: a text becomes what its field holds, `12.5` a number and `a|b` a list, empty text no value; what
 * a reference gave with its type stays, but is written as text where the field keeps text. A key that names no field is left for the record
 * to refuse.
 */
export function readRecordValues(type: RecordType, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, valueFor(type.fieldByKey.get(key)?.type, value)]))
}

function valueFor(type: FieldType | undefined, value: unknown): unknown {
  if (type === undefined || value === null || value === undefined) return value
  if (!plainTexts.has(type)) return typeof value === 'string' ? fieldKinds[type].fromCell(value) : value
  const text = toText(value)
  if (text === '') return null
  // A day is the day of an instant that was given for it, and an instant the first of a day.
  if (type === 'date' && /^\d{4}-\d{2}-\d{2}T/.test(text)) return text.slice(0, 10)
  return type === 'datetime' && isDay(text) ? `${text}T00:00:00Z` : text
}
