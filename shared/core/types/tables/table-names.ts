import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { FieldColumns } from '#shared/core/types/fields/field.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** The PostgreSQL schema that holds a workspace's record tables. */
export const schemaOf = (workspaceId: string): string => `ws_${hexOf(workspaceId)}`

/**
 * The column of a field: its key and a number that is never reused, within PostgreSQL's 63 bytes. A field or type that is deleted and
 * created again has other columns, so that outdated type metadata leads to "undefined column" and not to another field's values.
 */
export const columnOf = (key: string, number: number): string => `${key.slice(0, 48)}_${number}`

/** The second column of a field type with two columns; null for every other. */
export const codeColumnOf = (type: FieldType, column: string): string | null =>
  fieldKinds[type].columns.length > 1 ? `${column}_code` : null

/** The columns of a field's values: one, or two for a currency. */
export const valueColumnsOf = ({ column, codeColumn }: FieldColumns): readonly string[] =>
  codeColumn === null ? [column] : [column, codeColumn]

/** The name of a unique field's index, which contains the field's id: a violation identifies the field. */
export const uniqueIndexOf = (fieldId: string): string => `unique_${hexOf(fieldId)}`

/** Returns the field id, without hyphens, from the name of a violated unique index; undefined for any other constraint. */
export const parseUniqueIndexName = (constraint: string | undefined): string | undefined =>
  /^unique_([0-9a-f]{32})$/.exec(constraint ?? '')?.[1]

/**
 * The always empty column that every write of a record names (shared/core/types/tables/change-table.ts). It cannot collide with a field's
 * column, since field keys begin with a letter.
 */
export const editionColumnOf = (edition: number): string => `_edition_${edition}`

/** The columns that `createTable` gives every table. */
const ownColumns = 5

/**
 * Maximum columns of a table over its lifetime, within PostgreSQL's 1,600: a dropped column still counts and costs one bit in every row.
 * `maxFields` fields always fit into a row (shared/core/types/fields/create-field.ts).
 */
export const maxColumns = 1_500

/** The number of columns of a table created with fields of these types. */
export const countColumns = (types: readonly FieldType[]): number =>
  types.reduce((count, type) => count + fieldKinds[type].columns.length, ownColumns)

/**
 * A table is vacuumed after `changes` changes plus `share` of its records. An exact count uses an index-only scan for pages without changes
 * since the last vacuum. Measured on a million records, counting 10,000 takes 0.8 ms, 4 ms after 10,000 changes across the table, 9 ms
 * after 20,000 and up to 15 ms after PostgreSQL's default of 200,000. The vacuum then takes 12 s, throttled, with 0.3 s of processor time
 * and 66 MB of write-ahead log; single records are read and changed as fast as before meanwhile. After as many inserts the vacuum takes 0.3
 * s.
 */
export const vacuumAfter = Object.freeze({ changes: 1_000, share: 0.02 })

/** An id without hyphens, as used in names of tables and indexes. */
export const hexOf = (id: string): string => id.replaceAll('-', '')

// A btree entry is limited to 2,704 bytes; text that may be longer is unique by its digest.
const digested: ReadonlySet<FieldType> = new Set<FieldType>(['text', 'url', 'file'])

/** Whether values of the type may be too long for a btree entry. */
export const isIndexedByDigest = (type: FieldType): boolean => digested.has(type)

/** The expression of a unique index for one value or column `??`; a query must use the same expression to be served by it. */
export const uniqueKeySql = (type: FieldType): string => (isIndexedByDigest(type) ? 'text_digest(??)' : '??')
