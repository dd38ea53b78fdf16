import { randomUUID } from 'node:crypto'
import type { TestFn } from 'ava'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { FieldColumns } from '#shared/core/types/fields/field.ts'
import { Database } from '#shared/platform/db/database.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { buildStatement } from '#shared/platform/db/statements/statement.ts'
import { type FieldType, type FieldValue, fieldTypes } from '#shared/platform/kernel/field-type.ts'
import { type Opened, shareInThread } from '#test/support/share-in-thread.ts'
import { dropDatabase, emptyDatabase } from '#test/support/template.ts'

/** A table with the columns of every field type, in a database of its own. */
export interface Table {
  /** Replaces the rows: one for each value of the type. */
  readonly keep: (type: FieldType, values: readonly FieldValue[]) => Promise<void>
  /** The values of the rows that match the condition, in the order of insertion. */
  readonly where: (type: FieldType, condition?: Knex.Raw) => Promise<readonly FieldValue[]>
}

export const columnsOf = (type: FieldType): FieldColumns => ({
  column: `r.${type}`,
  codeColumn: type === 'currency' ? 'r.currency_code' : null,
})

const namesOf = (type: FieldType): readonly string[] => fieldKinds[type].columns.map((_, index) => (index === 0 ? type : `${type}_code`))

/** A table that the files of a thread share. */
export const shareTable = (test: TestFn): (() => Promise<Table>) => shareInThread(test, startTable, 'table of every field type')

async function startTable(): Promise<Opened<Table>> {
  const { name, url } = await emptyDatabase(`fields_${randomUUID().slice(0, 8)}`)
  const db = new Database(url, { connections: 1, name: 'test', statementTimeoutMs: 10_000 })
  const columns = fieldTypes.flatMap((type) =>
    namesOf(type).map((column, index) => `${builder.raw('??', [column])} ${fieldKinds[type].columns[index]}`),
  )
  await db.query({ text: `create table r (n integer generated always as identity, ${columns.join(', ')})` })
  const table: Table = {
    async keep(type, values) {
      await db.query({ text: 'truncate r restart identity' })
      for (const value of values) {
        const cells = fieldKinds[type].toColumns(value)
        const row = Object.fromEntries(namesOf(type).map((column, index) => [column, cells[index]]))
        await db.query(buildStatement(builder('r').insert(row)))
      }
    },
    async where(type, condition = builder.raw('true')) {
      const rows = await db.query<Record<string, unknown>>(buildStatement(builder('r').select(namesOf(type)).where(condition).orderBy('n')))
      return rows.map((row) => fieldKinds[type].fromColumns(namesOf(type).map((column) => row[column])))
    },
  }
  const close = async () => {
    await db.close()
    await dropDatabase(name)
  }
  return { value: table, close }
}
