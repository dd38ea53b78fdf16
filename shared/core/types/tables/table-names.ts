import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** The PostgreSQL schema that holds a workspace's record tables. */
export const schemaOf = (workspaceId: string): string => `ws_${workspaceId.replaceAll('-', '')}`

/**
 * The column of a field: its key and a number that is never given twice, within PostgreSQL's 63 bytes. A field or type that is deleted and
 * made again has other columns, so an out-of-date picture of the type meets "undefined column" and not another field's values.
 */
export const columnOf = (key: string, number: number): string => `${key.slice(0, 48)}_${number}`

/** The second column of a type with two; null for every other. */
export const codeColumnOf = (type: FieldType, column: string): string | null =>
  fieldKinds[type].columns.length > 1 ? `${column}_code` : null

/** The name of the index that holds a unique field's values apart; a violation of it names the field. */
export const uniqueIndexOf = (fieldId: string): string => `unique_${hexOf(fieldId)}`

/**
 * The field whose unique index a violated constraint is, as its id without hyphens; undefined for any other constraint. A database that is
 * spread over nodes names the shard behind it.
 */
export const parseUniqueIndexName = (constraint: string | undefined): string | undefined =>
  /^unique_([0-9a-f]{32})(?:_\d+)?$/.exec(constraint ?? '')?.[1]

/**
 * The column, always empty, that every write of a record names. Keys of fields begin with a letter, so it is never taken for a field's
 * (shared/core/types/tables/edition.ts).
 */
export const editionColumnOf = (edition: number): string => `_edition_${edition}`

/** The columns that every table has: those of `createTable`. */
const ownColumns = 5

/**
 * The most columns that a table may ever have, within PostgreSQL's 1,600: a dropped column counts on, and each costs every row a bit.
 * `maxFields` of them, whatever they hold, fit into a row (shared/core/types/fields/create-field.ts).
 */
export const maxColumns = 1_500

/** How many columns a table has that was made with these fields. */
export const countColumns = (types: readonly FieldType[]): number =>
  types.reduce((count, type) => count + fieldKinds[type].columns.length, ownColumns)

/**
 * How many changes of a table wait for its next vacuum: so many, and this share of its records. An exact count is read from an index alone where
 * a page has not changed since. Measured on a million records, counting 10,000 takes 0.8 ms, 4 ms after 10,000 changes all over the table, 9 ms
 * after 20,000 and up to 15 ms after the 200,000 that PostgreSQL lets pass. Its vacuum then takes 12 s of its own pace, 0.3 s of processor time
 * and 66 MB of write-ahead log, in which reading and changing single records is as quick as before; after as many new records it takes 0.3 s.
 */
export const vacuumAfter = Object.freeze({ changes: 1_000, share: 0.02 })

/** An id without its hyphens, as it stands in names of tables and indexes. */
export const hexOf = (id: string): string => id.replaceAll('-', '')

// A btree entry ends at 2,704 bytes; text that may be longer is held apart by its digest.
const digested: ReadonlySet<FieldType> = new Set<FieldType>(['text', 'url', 'file'])

/** Whether text of the type may be too long for an entry of a btree. */
export const isIndexedByDigest = (type: FieldType): boolean => digested.has(type)

/** What the unique index of a field of the type sorts by, of one value or column `??`: a search by it must ask in the same words. */
export const uniqueKeySql = (type: FieldType): string => (isIndexedByDigest(type) ? 'text_digest(??)' : '??')
