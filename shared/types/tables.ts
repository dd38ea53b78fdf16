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

/** The field whose unique index a violated constraint is, as its id without hyphens; undefined for any other constraint. */
export const fieldOfUniqueIndex = (constraint: string | undefined): string | undefined =>
  /^unique_([0-9a-f]{32})$/.exec(constraint ?? '')?.[1]

/** The columns that every record has. */
const ownColumns = 4

/**
 * The most columns that a table may ever have, within PostgreSQL's 1,600: a dropped column counts on, and each costs every row a bit.
 * `maxFields` of them, whatever they hold, fit into a row (shared/types/create-field.ts).
 */
export const maxColumns = 1_500

/** How many columns a table has that was made with these fields. */
export const countColumns = (types: readonly FieldType[]): number =>
  types.reduce((count, type) => count + fieldKinds[type].columns.length, ownColumns)

/**
 * Makes a type's table with the columns that every record has. Tables and indexes share one space of names, so an index is never named
 * like a type: its name is longer than a type's key may be.
 */
export async function createTable(tx: Tx, schema: string, table: string, typeId: string): Promise<void> {
  await tx.query(
    build(
      builder.raw(
        `create table ??.?? (
           id uuid constraint ?? primary key,
           created_by uuid,
           created_at timestamptz not null,
           updated_at timestamptz not null
         ) with (fillfactor = 90)`,
        [schema, table, `id_${hex(typeId)}`],
      ),
    ),
  )
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

/** Adds the columns and indexes of a field. Adding a nullable column is a change of the catalogue alone, whatever the table holds. */
export async function addColumns(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  const names = [field.column, field.codeColumn].filter((name) => name !== null)
  for (const [index, name] of names.entries()) {
    const type = fieldKinds[field.type].columns[index] ?? 'text'
    await tx.query(build(builder.raw(`alter table ??.?? add column ?? ${type}`, [schema, table, name])))
  }
  if (field.unique) await addUniqueIndex(tx, schema, table, field)
  if (field.type === 'ref') {
    await tx.query(build(builder.raw('create index ?? on ??.?? (??, id desc)', [`ref_${hex(field.id)}`, schema, table, field.column])))
  }
}

/** Drops a field's columns, and with them its indexes and values. */
export async function dropColumns(tx: Tx, schema: string, table: string, field: Pick<Field, 'column' | 'codeColumn'>): Promise<void> {
  for (const name of [field.column, field.codeColumn]) {
    if (name !== null) await tx.query(build(builder.raw('alter table ??.?? drop column ??', [schema, table, name])))
  }
}

// A btree entry ends at 2,704 bytes; text that may be longer is held apart by its digest.
const digested = new Set<FieldType>(['text', 'url', 'file'])

async function addUniqueIndex(tx: Tx, schema: string, table: string, field: Column): Promise<void> {
  const columns = field.codeColumn === null ? [field.column] : [field.column, field.codeColumn]
  const expression = digested.has(field.type) ? '(md5(??))' : columns.map(() => '??').join(', ')
  await tx.query(
    build(builder.raw(`create unique index ?? on ??.?? (${expression})`, [uniqueIndexOf(field.id), schema, table, ...columns])),
  )
}
