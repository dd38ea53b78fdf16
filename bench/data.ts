import { randomUUID } from 'node:crypto'
import { makeToken } from '#shared/access/tokens.ts'
import { Database } from '#shared/db/database.ts'
import type { FieldType } from '#shared/kernel/field-type.ts'
import { newId } from '#shared/kernel/ids.ts'
import { createWorkspaceTables } from '#shared/types/set-up.ts'
import { addColumns, codeColumnOf, columnOf, createTable, schemaOf } from '#shared/types/tables.ts'

/** What the cases and the floor need to know of the loaded data. */
export interface Loaded {
  readonly workspaceId: string
  readonly typeId: string
  readonly actorId: string
  readonly schema: string
  /** A session token of the owner. */
  readonly token: string
  readonly columns: Readonly<Record<string, string>>
  /** Ids of records, to get them by. */
  readonly ids: readonly string[]
}

/** A sales pipeline, as small companies keep one. */
const fields: readonly { key: string; type: FieldType; rules?: object }[] = [
  { key: 'name', type: 'string' },
  { key: 'stage', type: 'select', rules: { options: Array.from({ length: 200 }, (_, index) => `stage-${index}`) } },
  { key: 'amount', type: 'currency' },
  { key: 'due', type: 'date' },
  { key: 'email', type: 'email' },
  { key: 'notes', type: 'text' },
]

/** Makes a workspace with a type `deals` of so many records, straight in the database. */
export async function loadData(databaseUrl: string, records: number): Promise<Loaded> {
  const db = new Database(databaseUrl, { connections: 2, name: 'bench data', statementTimeoutMs: 600_000 })
  try {
    const [workspaceId, actorId, typeId] = [randomUUID(), randomUUID(), newId()]
    const token = makeToken('session', actorId)
    const insert = (text: string, values: unknown[]) => db.query({ text, values })
    await insert(`insert into users (id, email, name, password_hash) values ($1, 'bench@example.com', 'Bench', 'none')`, [actorId])
    await insert(`insert into sessions (id, user_id, token_hash, expires_at) values ($1, $2, $3, now() + interval '30 days')`, [
      newId(),
      actorId,
      token.hash,
    ])
    await insert(`insert into workspaces (id, name, plan, owner_id) values ($1, 'Bench', 'paid', $2)`, [workspaceId, actorId])
    await insert('insert into members (workspace_id, user_id) values ($1, $2)', [workspaceId, actorId])
    await createWorkspaceTables(db, workspaceId)
    const schema = schemaOf(workspaceId)
    const columns = await makeType(db, workspaceId, typeId, schema)
    const ids = await fill(db, workspaceId, typeId, schema, columns, records)
    return { workspaceId, typeId, actorId, schema, token: token.text, columns, ids }
  } finally {
    await db.close()
  }
}

async function makeType(db: Database, workspaceId: string, typeId: string, schema: string): Promise<Record<string, string>> {
  const columns: Record<string, string> = {}
  await db.transaction(async (tx) => {
    await tx.query({
      text: `insert into record_types (workspace_id, id, key, label) values ($1, $2, 'deals', 'Deals')`,
      values: [workspaceId, typeId],
    })
    await createTable(tx, schema, 'deals', typeId)
    for (const [index, { key, type, rules = {} }] of fields.entries()) {
      const [id, column] = [newId(), columnOf(key, index + 1)]
      columns[key] = column
      await tx.query({
        text: `insert into fields (workspace_id, id, type_id, key, label, type, rules, column_name) values ($1, $2, $3, $4, $4, $5, $6, $7)`,
        values: [workspaceId, id, typeId, key, type, JSON.stringify(rules), column],
      })
      await addColumns(tx, schema, 'deals', { id, type, column, codeColumn: codeColumnOf(type, column), unique: false })
    }
  })
  return columns
}

async function fill(
  db: Database,
  workspaceId: string,
  typeId: string,
  schema: string,
  { name, stage, amount, due, email, notes }: Readonly<Record<string, string>>,
  records: number,
): Promise<string[]> {
  await db.query({
    text: `insert into "${schema}".deals
        (id, created_by, created_at, updated_at, "${name}", "${stage}", "${amount}", "${amount}_code", "${due}", "${email}", "${notes}")
      select uuidv7(make_interval(secs => n - $1::int)), null, now(), now(), 'Deal ' || n, 'stage-' || n % 200, (n::bigint * 7919) % 100000 / 100.0, 'USD',
        date '2026-01-01' + n % 365, 'person' || n || '@example.com', 'Notes on deal ' || n || repeat(' and more', n % 20)
      from generate_series(1, $1::int) as n`,
    values: [records],
  })
  await db.query({ text: 'insert into record_counts values ($1, $2, 0, $3)', values: [workspaceId, typeId, records] })
  await db.query({ text: `create index on "${schema}".deals ("${stage}", id)` })
  await db.query({ text: `vacuum analyze "${schema}".deals` })
  const rows = await db.query<{ id: string }>({ text: `select id from "${schema}".deals tablesample system (50) limit 1000` })
  return rows.map(({ id }) => id)
}
