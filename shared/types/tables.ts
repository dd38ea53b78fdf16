import { builder } from '#shared/db/builder.ts'
import type { Executor, Tx } from '#shared/db/database.ts'
import { build } from '#shared/db/statement.ts'
import type { FieldType } from '#shared/kernel/field-type.ts'
import type { Field } from '#shared/types/fields/field.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'

/** The PostgreSQL schema that holds a workspace's record tables. */
export const schemaOf = (workspaceId: string): string => `ws_${workspaceId.replaceAll('-', '')}`

/**
 * The column of a field: its key and a number that its type never gives twice, within PostgreSQL's 63 bytes. A field that is deleted and
 * made again has another column, so an out-of-date picture of the type meets "undefined column" and not another field's values.
 */
export const columnOf = (key: string, number: number): string => `${key.slice(0, 48)}_${number}`

/** The second column of a type with two; null for every other. */
export const codeColumnOf = (type: FieldType, column: string): string | null =>
  fieldKinds[type].columns.length > 1 ? `${column}_code` : null

/** The name of the index that holds a unique field's values apart; a violation of it names the field. */
export const uniqueIndexOf = (fieldId: string): string => `unique_${fieldId.replaceAll('-', '')}`

/** The field whose unique index a violated constraint is, as its id without hyphens; undefined for any other constraint. */
export const fieldOfUniqueIndex = (constraint: string | undefined): string | undefined =>
  /^unique_([0-9a-f]{32})$/.exec(constraint ?? '')?.[1]

/** Makes a type's table with the columns that every record has. */
export async function createTable(tx: Tx, schema: string, table: string): Promise<void> {
  await tx.query(
    build(
      builder.raw(
        `create table ??.?? (
           id uuid primary key,
           created_by uuid,
           created_at timestamptz not null,
           updated_at timestamptz not null
         ) with (fillfactor = 90)`,
        [schema, table],
      ),
    ),
  )
}

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
    const index = `ref_${field.id.replaceAll('-', '')}`
    await tx.query(build(builder.raw('create index ?? on ??.?? (??, id desc)', [index, schema, table, field.column])))
  }
}

/** Drops a field's columns, and with them its indexes and values. */
export async function dropColumns(tx: Tx, schema: string, table: string, field: Pick<Field, 'column' | 'codeColumn'>): Promise<void> {
  for (const name of [field.column, field.codeColumn]) {
    if (name !== null) await tx.query(build(builder.raw('alter table ??.?? drop column ??', [schema, table, name])))
  }
}

/** Waits at most this long for a table's lock at a time, so that a change of the catalogue never queues up a table's readers. */
export async function limitLockWait(tx: Executor): Promise<void> {
  await tx.query({ text: `set local lock_timeout = '500ms'` })
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
