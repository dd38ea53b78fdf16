import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { type RecordRow, type RecordView, toRecord, toRecordView } from '#shared/core/records/record.ts'
import { recordColumnNames, recordColumns } from '#shared/core/records/record-columns.ts'
import { columnList } from '#shared/core/records/store.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { booleans, type Columns } from '#shared/platform/db/statements/sql-types.ts'

/** The columns of a row as a caller sees it: hidden text is neither read nor measured, so no answer depends on its length. */
interface ShownColumns {
  /** The select list of a page: `recordColumns`, and for a caller with masks the column `shown`, whose elements are the conditions of fields. */
  readonly page: Knex.Raw
  /** The select list over such a page, with null for hidden text. PostgreSQL keeps long text apart, so the page alone does not read it. */
  readonly list: Knex.Raw
  readonly columns: Columns
  /** SQL over such a page for the bytes of the text that the caller sees in a row. */
  readonly textBytes: Knex.Raw
  /** Keys of the fields that the caller sees in a row of `list`; undefined for all. */
  readonly visibleOf: ((row: RecordRow) => ReadonlySet<string>) | undefined
}

/** The columns of a type's rows for a caller's access to the type. */
export const shownColumns = (type: RecordType, access: RecordAccess): ShownColumns => shownColumnsBy(access)(type)

/**
 * The number of cells of the caller's columns in a row, after which those of the statement follow. They are not counted from the end: a verified
 * read adds cells there.
 */
export const cellsBefore = (type: RecordType, access: RecordAccess): number =>
  recordColumnNames(type).length + (type.longRecords && shownColumns(type, access).visibleOf ? 1 : 0)

const shownColumnsBy = memoizeByObject((access: RecordAccess) =>
  memoizeByObject((type: RecordType): ShownColumns => (access.alwaysVisible ? allColumns(type) : maskedColumns(type, access))),
)

const allColumns = (type: RecordType): ShownColumns => ({
  page: columnList(type),
  list: columnList(type),
  columns: recordColumns(type),
  textBytes: textBytes(type),
  visibleOf: undefined,
})

function maskedColumns(type: RecordType, access: RecordAccess): ShownColumns {
  const { conditions, placeOf } = conditionsOf(type, access)
  const names = recordColumnNames(type)
  const isShown = ({ key }: Field) => {
    const place = placeOf.get(key)
    return place === undefined ? undefined : builder.raw(`shown[${place + 1}]`)
  }
  const hideable = new Map(
    type.fields.flatMap((field) => {
      const shown = isText(field) ? isShown(field) : undefined
      return shown ? valueColumnsOf(field).map((column) => [column, shown] as const) : []
    }),
  )
  const cells = names.map((column) => {
    const shown = hideable.get(column)
    return shown ? builder.raw('case when ? then ?? end as ??', [shown, column, column]) : builder.raw('??', [column])
  })
  return {
    page: builder.raw(`?, array[${conditions.map(() => '?').join(', ')}]::boolean[] as shown`, [columnList(type), ...conditions]),
    list: builder.raw(`${cells.map(() => '?').join(', ')}, shown`, cells),
    columns: { ...recordColumns(type), shown: booleans.notNull },
    textBytes: textBytes(type, isShown),
    visibleOf(row) {
      const holds = row[names.length] as readonly boolean[]
      const visible = type.fields.filter(({ key }) => holds[placeOf.get(key) ?? -1] ?? !placeOf.has(key))
      return new Set(visible.map(({ key }) => key))
    },
  }
}

/** The conditions that show a type's fields, each once, and their places by the keys of the fields that are not always shown. */
function conditionsOf(type: RecordType, access: RecordAccess): { conditions: readonly Knex.Raw[]; placeOf: ReadonlyMap<string, number> } {
  const conditions = new Map<string, Knex.Raw>()
  const nameOf = new Map<string, string>()
  for (const { key } of type.fields) {
    const where = access.fieldWhere(key)
    if (!where) continue
    const name = where.toString()
    nameOf.set(key, name)
    conditions.set(name, where)
  }
  const names = [...conditions.keys()]
  return { conditions: [...conditions.values()], placeOf: new Map([...nameOf].map(([key, name]) => [key, names.indexOf(name)])) }
}

/** Rows of `shownColumns` as the caller sees them, limited to the selected fields. Their statement must have applied `access.where`. */
export function toShownViews(
  type: RecordType,
  rows: readonly RecordRow[],
  access: RecordAccess,
  selected: ReadonlySet<string> | undefined,
): RecordView[] {
  const { visibleOf } = shownColumns(type, access)
  return rows.map((row) => {
    const visible = visibleOf?.(row)
    return toRecordView(type, toRecord(type, row), visible && selected ? visible.intersection(selected) : (visible ?? selected))
  })
}

const sizes: Readonly<Record<string, string>> = {
  // PostgreSQL stores the length of a long text apart from the text, so this does not read the text.
  text: 'coalesce(octet_length(??), 0)',
  'text[]': `coalesce(octet_length(array_to_string(??, ',')), 0)`,
  'uuid[]': 'coalesce(cardinality(??), 0) * 36',
}

const sizeOf = ({ type }: Field): string | undefined => sizes[fieldKinds[type].columns[0]]
const isText = (field: Field): boolean => sizeOf(field) !== undefined

/** SQL for the bytes of a row's text; those of a field count where its condition `shownWhere` holds, if it has one. */
export function textBytes({ fields }: RecordType, shownWhere: (field: Field) => Knex.Raw | undefined = () => undefined): Knex.Raw {
  const parts = fields.flatMap((field) => {
    const size = sizeOf(field)
    if (size === undefined) return []
    const [bytes, where] = [builder.raw(size, [field.column]), shownWhere(field)]
    return [where ? builder.raw('case when ? then ? else 0 end', [where, bytes]) : bytes]
  })
  return builder.raw(['0', ...parts.map(() => '?')].join(' + '), parts)
}
