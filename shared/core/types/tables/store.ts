import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { Field, FieldColumns } from '#shared/core/types/fields/field.ts'
import { editionColumnOf, hexOf, uniqueIndexOf, uniqueKeySql, vacuumAfter, valueColumnsOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor, Tx } from '#shared/platform/db/database.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'

/** Creates the schema that holds a workspace's record tables. */
export async function createSchema(tx: Tx, schema: string): Promise<void> {
  await change(tx, 'create schema ??', [schema])
}

/** Renames the column that every write names (`editionColumnOf`). This changes only PostgreSQL's catalogue. */
export async function renameEdition(tx: Tx, schema: string, table: string, from: string, to: string): Promise<void> {
  await change(tx, 'alter table ??.?? rename column ?? to ??', [schema, table, from, to])
}

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
 * Creates the table of a new type, with the columns that every table has and with the columns and indexes of the given fields: adding these
 * afterwards takes three times as long. Tables and indexes of a schema must have different names; names of indexes are longer than any
 * type's key, which is the name of its table.
 */
export async function createTable(tx: Tx, schema: string, table: string, typeId: string, fields: readonly Column[] = []): Promise<void> {
  const columns = fields.flatMap((field) => valueColumnsOf(field).map((name, index) => ({ name, definition: definitionOf(field, index) })))
  await change(
    tx,
    `create table ??.?? (
           id uuid constraint ?? primary key,
           created_by uuid,
           created_at timestamptz not null,
           updated_at timestamptz not null,
           ?? boolean${columns.map(({ definition }) => `, ?? ${definition}`).join('')}
         ) with (${storage})`,
    [schema, table, `id_${hexOf(typeId)}`, editionColumnOf(1), ...columns.map(({ name }) => name)],
  )
  for (const field of fields) await createIndexes(tx, schema, table, field)
}

/**
 * Renames the table of a deleted type, which frees its name. This changes only PostgreSQL's catalogue, however many records there are.
 * `dropAsideTable` drops the table later.
 */
export async function setTableAside(tx: Tx, schema: string, table: string, typeId: string): Promise<void> {
  await change(tx, 'alter table ??.?? rename to ??', [schema, table, asideTableOf(typeId)])
}

/** Drops the table that `setTableAside` renamed. Idempotent. */
export async function dropAsideTable(db: Executor, schema: string, typeId: string): Promise<void> {
  await change(db, 'drop table if exists ??.??', [schema, asideTableOf(typeId)])
}

const asideTableOf = (typeId: string): string => `deleted_${hexOf(typeId)}`

type Column = Pick<Field, 'id' | 'type' | 'column' | 'codeColumn' | 'unique'>

/**
 * Adds the columns and indexes of a field. Adding a nullable column changes only PostgreSQL's catalogue, however many records there are. An
 * index holds only the records that have a value, and for a new column no record has one: measured on a million rows, building it takes 55
 * ms and 8 kB, and building an index of all rows 410 ms and 40 MB.
 */
export async function addColumns(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  for (const [index, column] of valueColumnsOf(field).entries()) {
    await change(tx, `alter table ??.?? add column ?? ${definitionOf(field, index)}`, [schema, table, column])
  }
  await createIndexes(tx, schema, table, field)
}

const definitionOf = ({ type }: Pick<Column, 'type'>, index: number): string => fieldKinds[type].columns[index] ?? ''

async function createIndexes(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  for (const index of indexesOf(field)) await createIndex(tx, schema, table, field, index)
}

/** Adds the unique index of a field that was not unique before. Fails with a unique violation when two records have the same value. */
export async function addUniqueIndex(tx: Tx, schema: string, table: string, field: Omit<Column, 'unique'>): Promise<void> {
  for (const index of indexesOf({ ...field, unique: true })) {
    if (index.kind === 'unique index') await createIndex(tx, schema, table, field, index)
  }
}

async function createIndex(tx: Tx, schema: string, table: string, field: Omit<Column, 'unique'>, index: Index): Promise<void> {
  const { kind, name, key, columns } = index
  const held = whenHeld[fieldKinds[field.type].columns[0]] ?? '?? is not null'
  const text = `create ${kind} ?? on ??.?? (${key}) where ${held}`
  await change(tx, text, [name, schema, table, ...columns, field.column])
}

/** Drops a field's columns, and with them its indexes and values. */
export async function dropColumns(tx: Tx, schema: string, table: string, field: FieldColumns): Promise<void> {
  for (const column of valueColumnsOf(field)) await change(tx, 'alter table ??.?? drop column ??', [schema, table, column])
}

/**
 * The condition that a column holds a value, for column types where it is not `is not null`. Empty text counts as no value, so that empty
 * values never clash (docs/contract/types-and-fields.md#unique-fields).
 */
const whenHeld: Readonly<Record<string, string>> = { text: "?? <> ''" }

interface Index {
  readonly kind: 'index' | 'unique index'
  readonly name: string
  /** SQL of the index key, with `??` for each of `columns`. */
  readonly key: string
  readonly columns: readonly string[]
}

function indexesOf(field: Column): readonly Index[] {
  const columns = valueColumnsOf(field)
  const values = columns.map(() => uniqueKeySql(field.type)).join(', ')
  return [
    ...(field.unique ? [{ kind: 'unique index', name: uniqueIndexOf(field.id), key: values, columns } as const] : []),
    ...(field.type === 'ref' ? [{ kind: 'index', name: `ref_${hexOf(field.id)}`, key: '??, id desc', columns } as const] : []),
  ]
}

const change = (db: Executor, text: string, names: readonly string[]): Promise<unknown> =>
  db.query(buildStatement(builder.raw(text, names as readonly Knex.Value[])))
