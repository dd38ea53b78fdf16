import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { searchedTextSql } from '#shared/core/types/field-kinds/filters/value-filter.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { FieldUse } from '#shared/core/types/indexes/count-use.ts'
import { isIndexedByDigest } from '#shared/core/types/tables/table-names.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A kind of index on one field; an index is named by its kind and its field's id. */
export interface IndexKind {
  /** What follows `on table` in its definition. */
  readonly definition: (column: string) => Knex.Raw
  /** The uses that ask for it. */
  readonly servedUses: readonly FieldUse[]
  /** Whether it also finds values as `value` does, which then need no index of their own. */
  readonly findsValues: boolean
  /** Whether it keeps parts of values, so that it is good to know which of them nearly all values have. */
  readonly isSampled: boolean
  readonly supports: (type: FieldType) => boolean
}

const first = (type: FieldType): string => fieldKinds[type].columns[0]
const isList = (type: FieldType): boolean => first(type).endsWith('[]')
// A btree entry ends at 2,704 bytes: on longer text it would refuse the record.
const fitsBtree = (type: FieldType): boolean => !isList(type) && !isIndexedByDigest(type)

/**
 * Every kind there is. They match what a search compiles to (shared/core/types/field-kinds/filters/value-filter.ts, shared/core/records/query/query.ts): comparisons of the
 * bare column, `like` in its small letters, `@>`, and an order with empty values last and the newest first among equals. A btree cannot be read backwards for
 * the other direction, for then empty values would come first.
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
  /** Long text keeps but its hash in it: it finds what is equal, and puts nothing in order. */
  hash: {
    definition: (column) => builder.raw('using hash (??)', [column]),
    servedUses: ['equality'],
    findsValues: false,
    isSampled: false,
    supports: (type) => isIndexedByDigest(type),
  },
  // Empty values too, which cost a byte: of an index of some records alone PostgreSQL takes no statistics, and goes by a text's length. With a
  // million records it then read all of them for three letters that none holds, 356 ms instead of 0.1.
  // What is written waits in a list, in kilobytes, which one write in many sorts in and every search reads. Measured with 200,000 records on a
  // busy machine: by default, 4 MB, the slowest writes took 280 ms and a search 29 ms; with a fifth of that 90 ms and 12 ms, as cheap on average.
  trigram: {
    definition: (column) => builder.raw('using gin (? gin_trgm_ops) with (gin_pending_list_limit = 512)', [searchedTextSql(column)]),
    servedUses: ['contains', 'search'],
    findsValues: false,
    isSampled: true,
    supports: (type) => first(type) === 'text',
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

/** The kinds in the table's order, with their names. */
export const allIndexKinds = Object.entries(indexKinds) as unknown as readonly (readonly [IndexKindName, IndexKind])[]

/** The name of an index: within 63 bytes, and longer than a type's key may be, with which it shares the schema. */
export const indexNameOf = (kind: IndexKindName, fieldId: string): string => `${kind}_${fieldId.replaceAll('-', '')}`

/** The uses that indexes serve which the field has anyhow (shared/core/types/tables/store.ts). */
export function usesServedByField({ type, unique }: Pick<Field, 'type' | 'unique'>): readonly FieldUse[] {
  if (type === 'ref') return ['equality', 'reference']
  return unique && !isIndexedByDigest(type) ? ['equality'] : []
}
