import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import type { Column } from './column.ts'
import { freeKey, makeFieldKey } from './keys.ts'
import type { Survey } from './survey.ts'

/** The parts of an existing field that a proposal uses. */
export interface ExistingField {
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly rules: Readonly<Record<string, unknown>>
}

/** Plan of a column: create a field, fill an existing field, or leave the column out for a reason. */
export type PlannedColumn = { readonly column: Column } & (
  | { readonly plan: 'create' | 'fill'; readonly key: string; readonly label: string; readonly type: FieldType }
  | { readonly plan: 'leave'; readonly reason: string }
)
/** A column that is imported into a field. */
type ImportedColumn = Extract<PlannedColumn, { readonly key: string }>

/** The record type for a file and the plan of each column. */
export interface Proposal {
  readonly type: { readonly key: string; readonly label: string; readonly isNew: boolean }
  readonly columns: readonly PlannedColumn[]
  readonly rows: number
}

/** Maximum characters of a label (docs/contract/limits.md#lengths-of-texts). */
const maxLabel = 100

/** Proposes a type and a plan for each column. `existing` are the fields of a type that exists; columns that match one of them fill it. */
export function proposeType(survey: Survey, typeKey: string, existing: readonly ExistingField[] | undefined): Proposal {
  const free = [...(existing ?? [])]
  const taken = new Set(free.map(({ key }) => key))
  const isOurs = isOurExport(survey)
  const columns = survey.columns.map((column, index): PlannedColumn => {
    if (isOurs && index < 2) return { column, plan: 'leave', reason: `every record gets its own ${column.header}` }
    if (column.header === '' && column.filled === 0) return { column, plan: 'leave', reason: 'the column has no name and no values' }
    const key = makeFieldKey(column.header, index + 1)
    const match = free.findIndex((field) => field.key === column.header || field.key === key || field.label === column.header)
    const [field] = match < 0 ? [] : free.splice(match, 1)
    if (field?.rules.formula !== undefined) return { column, plan: 'leave', reason: `${field.key} is a computed field` }
    if (field) return { column, plan: 'fill', ...field }
    const unused = freeKey(key, taken)
    taken.add(unused)
    return { column, plan: 'create', key: unused, label: labelOf(column.header) || `Column ${index + 1}`, type: column.type }
  })
  const label = typeKey.charAt(0).toUpperCase() + typeKey.slice(1).replaceAll('_', ' ')
  return { type: { key: typeKey, label, isNew: existing === undefined }, columns, rows: survey.rows }
}

/** The imported columns, in the order of the file. */
export const importedColumns = ({ columns }: Proposal): readonly ImportedColumn[] => columns.filter((column) => column.plan !== 'leave')

/** Whether the file is an export of Kontor: it starts with `id` and `created_at` (docs/contract/records.md#export). */
const isOurExport = ({ columns: [first, second] }: Survey): boolean => first?.header === 'id' && second?.header === 'created_at'

const labelOf = (header: string): string => {
  const line = header.replace(/[\s\p{C}]+/gu, ' ')
  return [...line].slice(0, maxLabel).join('').trim()
}
