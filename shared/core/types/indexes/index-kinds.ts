import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { searchedTextSql } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { isIndexedByDigest } from '#shared/core/types/tables/table-names.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** The query on a field that an index can serve. `search` is `q`, `reference` a listing by `ref_field`. */
export type FieldUse = 'equality' | 'range' | 'ascending' | 'descending' | 'contains' | 'search' | 'reference'

/** A kind of index on one field. The index name is built from its kind and the field's id. */
interface IndexKind {
  /** The SQL after `on table` in the definition. */
  readonly definition: (column: string) => Knex.Raw
  /** The uses that it serves. */
  readonly servedUses: readonly FieldUse[]
  /** Whether it also serves the uses of `value`, which is then not needed. */
  readonly findsValues: boolean
  /** Whether it indexes parts of values, so that the field's values are sampled for common parts. */
  readonly isSampled: boolean
  readonly supports: (type: FieldType) => boolean
}

const firstColumnType = (type: FieldType): string => fieldKinds[type].columns[0]
const isList = (type: FieldType): boolean => firstColumnType(type).endsWith('[]')
// A btree entry is limited to 2,704 bytes: longer text would make the write of the record fail.
const fitsBtree = (type: FieldType): boolean => !isList(type) && !isIndexedByDigest(type)

/**
 * All index kinds. They match the SQL of searches (shared/core/types/field-kinds/filters/value-filter.ts,
 * shared/core/records/query/query.ts): comparisons of the bare column, `like` on the lowercase column, `@>`, and an order with empty values
 * last and the newest first among equals. Each direction has its own kind, because a btree that is scanned backwards gives empty values
 * first.
 */
export const indexKinds = Object.freeze({
  value: {
    definition: (column) => builder.raw('(??, id desc) where ?? is not null', [column, column]),
    servedUses: ['equality', 'range'],
    findsValues: true,
    isSampled: false,
    supports: fitsBtree,
  },
  ascending: {
    definition: (column) => builder.raw('(?? asc nulls last, id desc)', [column]),
    servedUses: ['ascending'],
    findsValues: true,
    isSampled: false,
    supports: fitsBtree,
  },
  descending: {
    definition: (column) => builder.raw('(?? desc nulls last, id desc)', [column]),
    servedUses: ['descending'],
    findsValues: true,
    isSampled: false,
    supports: fitsBtree,
  },
  /** Stores only a hash of long text: it serves equality but no order. */
  hash: {
    definition: (column) => builder.raw('using hash (??)', [column]),
    servedUses: ['equality'],
    findsValues: false,
    isSampled: false,
    supports: (type) => isIndexedByDigest(type),
  },
  // Includes empty values, which cost a byte each. PostgreSQL would take no statistics of a partial index and estimate from the length of
  // the searched text: for three letters that no record contains, it then read all of a million records, in 356 ms instead of 0.1 ms.
  //
  // The pending list (limit in kB) is merged by an occasional write and scanned by every search. Measured with 200,000 records on a busy
  // machine: with the default of 4 MB the slowest writes took 280 ms and a search 29 ms; with a fifth of that 90 ms and 12 ms, at the same
  // average cost.
  trigram: {
    definition: (column) => builder.raw('using gin (? gin_trgm_ops) with (gin_pending_list_limit = 512)', [searchedTextSql(column)]),
    servedUses: ['contains', 'search'],
    findsValues: false,
    isSampled: true,
    supports: (type) => firstColumnType(type) === 'text',
  },
  entries: {
    definition: (column) => builder.raw('using gin (??) where ?? is not null', [column, column]),
    servedUses: ['reference'],
    findsValues: false,
    isSampled: false,
    supports: isList,
  },
} satisfies Readonly<Record<string, IndexKind>>)
export type IndexKindName = keyof typeof indexKinds

/** The kinds with their names, in the order of `indexKinds`. */
export const allIndexKinds = Object.entries(indexKinds) as unknown as readonly (readonly [IndexKindName, IndexKind])[]

/** The kinds that have a form for pairs: the records of each value of a leading field, in the order of another. */
export const pairKinds = ['descending', 'ascending'] as const satisfies readonly IndexKindName[]

/** The SQL after `on table` in the definition of an index. `lead` is the column that leads a pair. */
export const indexDefinition = (kind: IndexKindName, column: string, lead?: string): Knex.Raw =>
  lead === undefined
    ? indexKinds[kind].definition(column)
    : builder.raw(`(??, ?? ${kind === 'descending' ? 'desc' : 'asc'} nulls last, id desc)`, [lead, column])

/**
 * Whether two fields can be a pair. Equal values of a unique field are one record's. The values of both share a btree entry: at most 2,000
 * bytes of a `string` or `email`, and 800 of a `select`.
 */
export function canPair(lead: Pick<Field, 'type' | 'unique'>, field: Pick<Field, 'type'>): boolean {
  const isLong = ({ type }: Pick<Field, 'type'>) => firstColumnType(type) === 'text'
  const bothLong = isLong(lead) && isLong(field) && !(lead.type === 'select' && field.type === 'select')
  return !lead.unique && fitsBtree(lead.type) && fitsBtree(field.type) && !bothLong
}

/**
 * The name of an index: at most 63 bytes, and longer than any type's key, so it never equals a table's name in the same schema. That of a
 * pair has the number of the leading column (`columnOf`). The query in `store.ts` builds the same names.
 */
export const indexNameOf = (kind: IndexKindName, fieldId: string, lead?: string): string =>
  [kind, ...(lead === undefined ? [] : [/[0-9]+$/.exec(lead)?.[0]]), fieldId.replaceAll('-', '')].join('_')

/** The uses served by the indexes that the field always has (shared/core/types/tables/store.ts). */
export function usesServedByField({ type, unique }: Pick<Field, 'type' | 'unique'>): readonly FieldUse[] {
  if (type === 'ref') return ['equality', 'reference']
  return unique && !isIndexedByDigest(type) ? ['equality'] : []
}
