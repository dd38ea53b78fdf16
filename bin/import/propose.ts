import { type ColumnMap, quote, requireMappedColumns } from '#shared/core/records/csv/column-map.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import type { Column } from './column.ts'
import { freeKey, makeFieldKey } from './keys.ts'
import type { Survey } from './survey.ts'

/** The parts of an existing field that a proposal uses. */
export interface ExistingField {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly unique: boolean
  readonly rules: Readonly<Record<string, unknown>>
}

/** Plan of a column: create a field, fill an existing field, or leave the column out for a reason. */
export type PlannedColumn = { readonly column: Column } & (
  | { readonly plan: 'create' | 'fill'; readonly key: string; readonly label: string; readonly type: FieldType }
  | { readonly plan: 'leave'; readonly reason: string }
)
/** A column that is imported into a field. */
export type ImportedColumn = Extract<PlannedColumn, { readonly key: string }>

/** The record type for a file and the plan of each column. */
export interface Proposal {
  readonly type: { readonly key: string; readonly label: string; readonly isNew: boolean }
  readonly columns: readonly PlannedColumn[]
  readonly rows: number
}

/** Maximum characters of a label (docs/contract/limits.md#lengths-of-texts). */
const maxLabel = 100

/** What a proposal is made for. */
interface Wishes {
  readonly typeKey: string
  /** The fields of a type that exists; undefined for a new type. */
  readonly existing: readonly ExistingField[] | undefined
  /** The option `--map`. */
  readonly map: ColumnMap
}

/**
 * Proposes a type and a plan for each column. A column fills the field that `map` gives, or one that matches its name; the field is created
 * where the type lacks it. Throws VALIDATION_ERROR when `map` names a column that the file lacks, or two columns fill one field.
 */
export function proposeType(survey: Survey, { typeKey, existing, map }: Wishes): Proposal {
  requireMappedColumns(
    map,
    survey.columns.map(({ header }) => header),
  )
  const mapped = new Set([...map.values()].filter((key) => key !== null))
  const free = (existing ?? []).filter(({ key }) => !mapped.has(key))
  const taken = new Set([...(existing ?? []).map(({ key }) => key), ...mapped])
  const isOurs = isOurExport(survey)
  const columns = survey.columns.map((column, index): PlannedColumn => {
    const mappedKey = map.get(column.header)
    if (mappedKey === null) return { column, plan: 'leave', reason: 'left out by --map' }
    if (mappedKey !== undefined) return planMapped(column, mappedKey, existing ?? [])
    if (isOurs && index < 2) return { column, plan: 'leave', reason: `every record gets its own ${column.header}` }
    if (column.header === '' && column.filled === 0) return { column, plan: 'leave', reason: 'the column has no name and no values' }
    if (mapped.has(column.header)) return planMapped(column, column.header, existing ?? [])
    const key = makeFieldKey(column.header, index + 1)
    const match = free.findIndex((field) => field.key === column.header || field.key === key || field.label === column.header)
    const [field] = match < 0 ? [] : free.splice(match, 1)
    if (field) return planExisting(column, field)
    const unused = freeKey(key, taken)
    taken.add(unused)
    return { column, plan: 'create', key: unused, label: labelOf(column.header) || `Column ${index + 1}`, type: column.type }
  })
  requireOneColumnPerField(columns)
  const label = typeKey.charAt(0).toUpperCase() + typeKey.slice(1).replaceAll('_', ' ')
  return { type: { key: typeKey, label, isNew: existing === undefined }, columns, rows: survey.rows }
}

function planMapped(column: Column, key: string, existing: readonly ExistingField[]): PlannedColumn {
  const field = existing.find((one) => one.key === key)
  if (field) return planExisting(column, field)
  return { column, plan: 'create', key, label: labelOf(column.header) || key, type: column.type }
}

const planExisting = (column: Column, { key, label, type, rules }: ExistingField): PlannedColumn =>
  rules.formula === undefined ? { column, plan: 'fill', key, label, type } : { column, plan: 'leave', reason: `${key} is a computed field` }

function requireOneColumnPerField(columns: readonly PlannedColumn[]): void {
  const first = new Map<string, string>()
  for (const planned of columns) {
    if (planned.plan === 'leave') continue
    const { header } = planned.column
    const other = first.get(planned.key)
    if (other !== undefined)
      throw problem(
        'VALIDATION_ERROR',
        `file has the columns ${quote(other)} and ${quote(header)} for the field ${planned.key}; map one of them to null`,
      )
    first.set(planned.key, header)
  }
}

/** The imported columns, in the order of the file. */
export const importedColumns = ({ columns }: Proposal): readonly ImportedColumn[] => columns.filter((column) => column.plan !== 'leave')

/** Whether the file is an export of Kontor: it starts with `id` and `created_at` (docs/contract/records.md#export). */
const isOurExport = ({ columns: [first, second] }: Survey): boolean => first?.header === 'id' && second?.header === 'created_at'

const labelOf = (header: string): string => {
  const line = header.replace(/[\s\p{C}]+/gu, ' ')
  return [...line].slice(0, maxLabel).join('').trim()
}
