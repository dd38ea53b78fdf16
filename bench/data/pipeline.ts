import { randomUUID } from 'node:crypto'
import { createWorkspaceTables } from '#shared/core/types/builtin/create-workspace-tables.ts'
import { addColumns, createTable } from '#shared/core/types/tables/store.ts'
import { codeColumnOf, columnOf, countColumns, schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A type of loaded records, with its names for cases and the floor. */
export interface Pipeline {
  readonly workspaceId: string
  readonly schema: string
  readonly key: string
  readonly typeId: string
  readonly records: number
  /** Columns by field key. */
  readonly columns: Readonly<Record<FieldKey, string>>
  /** Ids of records from all over the type, to read and change. */
  readonly ids: readonly string[]
}

type FieldKey = 'name' | 'stage' | 'amount' | 'due' | 'email' | 'notes'

/** A sales pipeline of a small company. */
const fields: readonly { key: FieldKey; type: FieldType; rules?: object }[] = [
  { key: 'name', type: 'string' },
  { key: 'stage', type: 'select', rules: { options: Array.from({ length: 200 }, (_, index) => `stage-${index}`) } },
  { key: 'amount', type: 'currency' },
  { key: 'due', type: 'date' },
  { key: 'email', type: 'email' },
  { key: 'notes', type: 'text' },
]

/** Ids that cases rotate through: the same number at every size, so that sizes differ only by records. */
const sampleSize = 5_000

/** Makes a workspace of the paid plan, prepared as a worker does it. */
export async function makeWorkspace(db: Executor, ownerId: string, name: string): Promise<string> {
  const id = randomUUID()
  await db.query({ text: `insert into workspaces (id, name, plan, owner_id) values ($1, $2, 'paid', $3)`, values: [id, name, ownerId] })
  // Joined before the first record: members are notified only of later ones.
  const text = `insert into members (workspace_id, user_id, created_at) values ($1, $2, now() - interval '1 year')`
  await db.query({ text, values: [id, ownerId] })
  await createWorkspaceTables(db, id)
  return id
}

/** Makes a type with this many records and the audit entries of their creation, as if they had been created by requests. */
export async function makePipeline(db: Executor, workspaceId: string, key: string, records: number): Promise<Pipeline> {
  const empty = await makeType(db, workspaceId, key)
  await fill(db, empty, records)
  const sample = { text: `select id from "${empty.schema}"."${key}" order by random() limit $1`, values: [sampleSize] }
  const ids = (await db.query<{ id: string }>(sample)).map(({ id }) => id)
  return { ...empty, records, ids }
}

type Empty = Omit<Pipeline, 'records' | 'ids'>

async function makeType(db: Executor, workspaceId: string, key: string): Promise<Empty> {
  const [typeId, schema] = [newId(), schemaOf(workspaceId)]
  const columns = Object.fromEntries(fields.map((field, index) => [field.key, columnOf(field.key, index + 1)])) as Empty['columns']
  await db.transaction(async (tx) => {
    await tx.query({
      text: 'insert into record_types (workspace_id, id, key, label, column_count) values ($1, $2, $3, $3, $4)',
      values: [workspaceId, typeId, key, countColumns(fields.map(({ type }) => type))],
    })
    await createTable(tx, schema, key, typeId)
    for (const { key: fieldKey, type, rules = {} } of fields) {
      const [id, column] = [newId(), columns[fieldKey]]
      await tx.query({
        text: `insert into fields (workspace_id, id, type_id, key, label, type, rules, column_name) values ($1, $2, $3, $4, $4, $5, $6, $7)`,
        values: [workspaceId, id, typeId, fieldKey, type, JSON.stringify(rules), column],
      })
      await addColumns(tx, schema, key, { id, type, column, codeColumn: codeColumnOf(type, column), unique: false })
    }
  })
  return { workspaceId, schema, key, typeId, columns }
}

async function fill(db: Executor, { workspaceId, schema, key, typeId, columns }: Empty, records: number): Promise<void> {
  const { name, stage, amount, due, email, notes } = columns
  const table = `"${schema}"."${key}"`
  await db.query({
    text: `insert into ${table}
        (id, created_by, created_at, updated_at, "${name}", "${stage}", "${amount}", "${amount}_code", "${due}", "${email}", "${notes}")
      select id, null, uuid_extract_timestamp(id), uuid_extract_timestamp(id), 'Deal ' || n, 'stage-' || n % 200,
        (n::bigint * 7919) % 100000 / 100.0, 'USD', date '2026-01-01' + n % 365, 'person' || n || '@example.com',
        'Notes on deal ' || n || repeat(' and more', n % 20)
      from (select n, uuidv7(make_interval(secs => n - $1::int)) as id from generate_series(1, $1::int) as n) as made`,
    values: [records],
  })
  await db.query({ text: 'insert into record_counts values ($1, $2, 0, $3)', values: [workspaceId, typeId, records] })
  await db.query({
    text: `insert into audit_entries (workspace_id, id, actor_type, action, object_type, record_id, after, request_id)
      select $1, uuidv7(created_at - now()), 'system', 'record.created', $2, id,
        jsonb_build_object('name', "${name}", 'stage', "${stage}", 'amount', "${amount}", 'due', "${due}"), 'bench'
      from ${table}`,
    values: [workspaceId, key],
  })
}
