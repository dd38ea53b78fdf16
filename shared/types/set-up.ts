import { builder } from '#shared/db/builder.ts'
import type { Executor } from '#shared/db/database.ts'
import { build, sql } from '#shared/db/statement.ts'
import { newId } from '#shared/kernel/ids.ts'
import { builtinTypes } from '#shared/types/builtin.ts'
import { addColumns, codeColumnOf, columnOf, countColumns, createTable, schemaOf } from '#shared/types/tables.ts'

const activate = sql('activate_workspace', `update workspaces set status = 'active' where id = $1 and status = 'provisioning' returning id`)

const insertType = sql(
  'insert_builtin_type',
  `insert into record_types (workspace_id, id, key, label, icon, system, column_count) values ($1, $2, $3, $4, $5, true, $6)`,
)

const insertField = sql(
  'insert_builtin_field',
  `insert into fields (workspace_id, id, type_id, key, label, type, required, is_unique, autogen, rules, system, column_name)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, true, $11)`,
)

/** Makes a new workspace's schema and built-in types and opens it. Doing it again, also at the same time, changes nothing. */
export async function createWorkspaceTables(db: Executor, workspaceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const opened = await tx.query(activate(workspaceId))
    if (opened.length === 0) return
    const schema = schemaOf(workspaceId)
    await tx.query(build(builder.raw('create schema ??', [schema])))
    for (const { key, label, icon, fields } of builtinTypes) {
      const typeId = newId()
      await tx.query(insertType(workspaceId, typeId, key, label, icon, countColumns(fields.map(({ type }) => type))))
      await createTable(tx, schema, key, typeId)
      for (const [index, field] of fields.entries()) {
        const id = newId()
        const column = columnOf(field.key, index + 1)
        const { type, required = false, unique = false, autogen = '', rules = {} } = field
        await tx.query(
          insertField(workspaceId, id, typeId, field.key, field.label, type, required, unique, autogen, JSON.stringify(rules), column),
        )
        await addColumns(tx, schema, key, { id, type, column, codeColumn: codeColumnOf(type, column), unique })
      }
    }
  })
}
