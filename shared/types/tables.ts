import { builder } from '#shared/db/builder.ts'
import type { Executor, Tx } from '#shared/db/database.ts'
import { build } from '#shared/db/statement.ts'
import type { FieldType } from '#shared/kernel/field-type.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'

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
export const uniqueIndexOf = (fieldId: string): string => `unique_${hex(fieldId)}`

/**
 * The field whose unique index a violated constraint is, as its id without hyphens; undefined for any other constraint. A database that is
 * spread over nodes names the shard behind it.
 */
export const fieldOfUniqueIndex = (constraint: string | undefined): string | undefined =>
  /^unique_([0-9a-f]{32})(?:_\d+)?$/.exec(constraint ?? '')?.[1]

/**
 * The column, always empty, that every write of a record names. Keys of fields begin with a letter, so it is never taken for a field's
 * (shared/types/edition.ts).
 */
export const editionColumnOf = (edition: number): string => `_edition_${edition}`

/** The columns that every table has: those of `createTable`. */
const ownColumns = 5

/**
 * The most columns that a table may ever have, within PostgreSQL's 1,600: a dropped column counts on, and each costs every row a bit.
 * `maxFields` of them, whatever they hold, fit into a row (shared/types/create-field.ts).
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

const storage = [
  ['fillfactor', 90],
  ['autovacuum_vacuum_threshold', vacuumAfter.changes],
  ['autovacuum_vacuum_scale_factor', vacuumAfter.share],
  ['autovacuum_vacuum_insert_threshold', vacuumAfter.changes],
  ['autovacuum_vacuum_insert_scale_factor', vacuumAfter.share],
]
  .map((setting) => setting.join(' = '))
  .join(', ')

/**
 * Makes a new type's table with the columns that every table has, and with those and the indexes of its first fields: adding them afterwards
 * takes three times as long. Tables and indexes share one space of names, so an index is never named like a type: its name is longer than a
 * type's key may be.
 */
export async function createTable(tx: Tx, schema: string, table: string, typeId: string, fields: readonly Column[] = []): Promise<void> {
  const columns = fields.flatMap((field) => columnsOf(field).map((name, index) => ({ name, definition: definitionOf(field, index) })))
  await tx.query(
    build(
      builder.raw(
        `create table ??.?? (
           id uuid constraint ?? primary key,
           created_by uuid,
           created_at timestamptz not null,
           updated_at timestamptz not null,
           ?? boolean${columns.map(({ definition }) => `, ?? ${definition}`).join('')}
         ) with (${storage})`,
        [schema, table, `id_${hex(typeId)}`, editionColumnOf(1), ...columns.map(({ name }) => name)],
      ),
    ),
  )
  for (const field of fields) await createIndexes(tx, schema, table, field)
}

/** Takes a deleted type's table out of everybody's way, whatever it holds: a change of the catalogue alone. `dropAsideTable` removes it. */
export async function setTableAside(tx: Tx, schema: string, table: string, typeId: string): Promise<void> {
  await tx.query(build(builder.raw('alter table ??.?? rename to ??', [schema, table, asideTableOf(typeId)])))
}

/** Removes the table that `setTableAside` put away; doing it again changes nothing. */
export async function dropAsideTable(db: Executor, schema: string, typeId: string): Promise<void> {
  await db.query(build(builder.raw('drop table if exists ??.??', [schema, asideTableOf(typeId)])))
}

const asideTableOf = (typeId: string): string => `deleted_${hex(typeId)}`

const hex = (id: string): string => id.replaceAll('-', '')

type Column = Pick<Field, 'id' | 'type' | 'column' | 'codeColumn' | 'unique'>

/**
 * Adds the columns and indexes of a field. Adding a nullable column is a change of the catalogue alone, whatever the table holds. An index
 * is of the records that have a value: measured on a million rows, it is made in 55 ms and 8 kB, and one of all rows in 410 ms and 40 MB.
 */
export async function addColumns(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  for (const [index, column] of columnsOf(field).entries()) {
    await tx.query(build(builder.raw(`alter table ??.?? add column ?? ${definitionOf(field, index)}`, [schema, table, column])))
  }
  await createIndexes(tx, schema, table, field)
}

const definitionOf = ({ type }: Pick<Column, 'type'>, index: number): string => fieldKinds[type].columns[index] ?? ''

async function createIndexes(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  for (const index of indexesOf(field)) await createIndex(tx, schema, table, field, index)
}

/** Holds the values of a field apart that was not unique before. Fails as a unique violation when two records hold the same. */
export async function addUniqueIndex(tx: Tx, schema: string, table: string, field: Omit<Column, 'unique'>): Promise<void> {
  for (const index of indexesOf({ ...field, unique: true })) {
    if (index.kind === 'unique index') await createIndex(tx, schema, table, field, index)
  }
}

async function createIndex(tx: Tx, schema: string, table: string, field: Omit<Column, 'unique'>, index: Index): Promise<void> {
  const { kind, name, key, columns } = index
  const held = whenHeld[fieldKinds[field.type].columns[0]] ?? '?? is not null'
  const text = `create ${kind} ?? on ??.?? (${key}) where ${held}`
  await tx.query(build(builder.raw(text, [name, schema, table, ...columns, field.column])))
}

/** Drops a field's columns, and with them its indexes and values. */
export async function dropColumns(tx: Tx, schema: string, table: string, field: Pick<Field, 'column' | 'codeColumn'>): Promise<void> {
  for (const column of columnsOf(field)) await tx.query(build(builder.raw('alter table ??.?? drop column ??', [schema, table, column])))
}

const columnsOf = ({ column, codeColumn }: Pick<Field, 'column' | 'codeColumn'>): readonly string[] =>
  codeColumn === null ? [column] : [column, codeColumn]

/** When a column holds a value; text may also be empty, and empty values never clash (decisions, Records, types, fields). */
const whenHeld: Readonly<Record<string, string>> = { text: "?? <> ''" }

interface Index {
  readonly kind: 'index' | 'unique index'
  readonly name: string
  /** What it sorts by, with `??` for each of `columns`. */
  readonly key: string
  readonly columns: readonly string[]
}

// A btree entry ends at 2,704 bytes; text that may be longer is held apart by its digest.
const digested: ReadonlySet<FieldType> = new Set<FieldType>(['text', 'url', 'file'])

/** Whether text of the type may be too long for an entry of a btree. */
export const isDigested = (type: FieldType): boolean => digested.has(type)

/** What the unique index of a field of the type sorts by, of one value or column `??`: a search by it must ask in the same words. */
export const uniqueKeyOf = (type: FieldType): string => (isDigested(type) ? 'text_digest(??)' : '??')

function indexesOf(field: Column): readonly Index[] {
  const columns = columnsOf(field)
  const values = columns.map(() => uniqueKeyOf(field.type)).join(', ')
  return [
    ...(field.unique ? [{ kind: 'unique index', name: uniqueIndexOf(field.id), key: values, columns } as const] : []),
    ...(field.type === 'ref' ? [{ kind: 'index', name: `ref_${hex(field.id)}`, key: '??, id desc', columns } as const] : []),
  ]
}
