import { type DatePart, dateParts, type GroupValue, spanGroup, valueGroup } from '#shared/core/records/aggregate/group-values-store.ts'
import { requireNamedField } from '#shared/core/records/query/filter-tree.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A group as requested, such as `stage` or `closes:month`. */
export interface Group {
  readonly name: string
  /** The field whose values group; undefined for the part of a date. */
  readonly field?: Field
  readonly value: GroupValue
}

const functions = ['sum', 'avg', 'min', 'max', 'distinct'] as const
export type MetricFunction = 'count' | (typeof functions)[number]

/** A metric as requested, such as `count` or `sum:total`. */
export interface Metric {
  readonly name: string
  readonly fn: MetricFunction
  /** Undefined for `count`. */
  readonly field?: Field
}

const [maxGroupKeys, maxMetrics] = [3, 10]

/** Reads `group_by`. Throws VALIDATION_ERROR; a field that a rule could hide is refused as an unknown one is. */
export function readGroups(type: RecordType, hideable: ReadonlySet<string>, text: string | undefined): Group[] {
  const names = readNames(text, 'group_by', maxGroupKeys)
  return names.map((name) => {
    const [key = '', part, ...rest] = name.split(':')
    if (part === undefined) {
      const field = requireNamedField(type, hideable, key, 'group_by')
      requireGroupable(field)
      return { name, field, value: valueGroup(field) }
    }
    if (rest.length > 0 || !isPart(part))
      throw problem('VALIDATION_ERROR', `group_by: ${name} must have one of the parts ${dateParts.join(', ')}`)
    return { name, value: spanGroup(datedOf(type, hideable, key), part) }
  })
}

const isPart = (text: string): text is DatePart => dateParts.some((part) => part === text)

const ungroupable: readonly FieldType[] = ['multiselect', 'refs', 'currency']

function requireGroupable({ key, type }: Field): void {
  if (ungroupable.includes(type)) throw problem('VALIDATION_ERROR', `group_by: ${key} is a ${type} field and cannot be grouped by`)
}

/** What has the parts of a date: a date, an instant, or the time of creation. */
function datedOf(type: RecordType, hideable: ReadonlySet<string>, key: string): { readonly type: FieldType; readonly column: string } {
  if (key === 'created_at') return { type: 'datetime', column: 'created_at' }
  const field = requireNamedField(type, hideable, key, 'group_by')
  if (field.type !== 'date' && field.type !== 'datetime')
    throw problem('VALIDATION_ERROR', `group_by: ${key} is a ${field.type} field and has no parts of a date`)
  return field
}

/** Reads `metrics`. Throws VALIDATION_ERROR as `readGroups` does. */
export function readMetrics(type: RecordType, hideable: ReadonlySet<string>, text: string): Metric[] {
  const names = readNames(text, 'metrics', maxMetrics)
  if (names.length === 0) throw problem('VALIDATION_ERROR', 'metrics must name at least one metric')
  return names.map((name) => {
    if (name === 'count') return { name, fn: 'count' }
    const [fn, key = '', ...rest] = name.split(':')
    const known = functions.find((one) => one === fn)
    if (!known || key === '' || rest.length > 0)
      throw problem('VALIDATION_ERROR', `metrics must be count, or ${functions.join(', ')} with a field such as sum:total, got ${name}`)
    const field = requireNamedField(type, hideable, key, 'metrics')
    requireMeasurable(field, known)
    return { name, fn: known, field }
  })
}

const typesOf: Readonly<Record<(typeof functions)[number], (type: FieldType) => boolean>> = {
  sum: (type) => type === 'number' || type === 'currency',
  avg: (type) => type === 'number' || type === 'currency',
  min: (type) => ['number', 'currency', 'date', 'datetime'].includes(type),
  max: (type) => ['number', 'currency', 'date', 'datetime'].includes(type),
  distinct: (type) => type !== 'multiselect' && type !== 'refs',
}

function requireMeasurable({ key, type }: Field, fn: (typeof functions)[number]): void {
  if (!typesOf[fn](type)) throw problem('VALIDATION_ERROR', `metrics: ${key} is a ${type} field and has no ${fn}`)
}

/** Reads a list of names separated by commas. */
function readNames(text: string | undefined, path: string, max: number): string[] {
  if (text === undefined || text === '') return []
  const names = text.split(',')
  if (names.length > max) throw problem('VALIDATION_ERROR', `${path} must have at most ${max} entries, got ${names.length}`)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) throw problem('VALIDATION_ERROR', `${path} must not name ${repeated} twice`)
  return names
}
