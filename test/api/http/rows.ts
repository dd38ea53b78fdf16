import { randomBytes } from 'node:crypto'
import type { Db } from '#test/support/rows.ts'

/** Makes the next version of a stored flow, in which one JSON text is replaced by another, past the checks of its blocks. */
export async function addFlowVersion(db: Db, flowId: string, from: string, to: string): Promise<void> {
  await db.query(
    `insert into flow_versions (workspace_id, flow_id, version, nodes, edges, context, editor_id, created_at)
     select workspace_id, flow_id, 2, replace(nodes::text, $2, $3)::json, edges, context, editor_id, created_at
     from flow_versions where flow_id = $1`,
    [flowId, from, to],
  )
  await db.query('update flows set version = 2 where id = $1', [flowId])
}

/** Makes the stored response of an Idempotency-Key a day older. */
export async function ageStoredAnswer(db: Db, key: string): Promise<void> {
  await db.query(`update idempotency_records set created_at = created_at - interval '24 hours' where key = $1`, [key])
}

/** The stored response of an Idempotency-Key as text; undefined when there is none. */
export async function readStoredAnswer(db: Db, key: string): Promise<string | undefined> {
  const { rows } = await db.query<{ text: string }>(`select encode(answer, 'escape') as text from idempotency_records where key = $1`, [
    key,
  ])
  return rows[0]?.text
}

/** Makes the database refuse each creation of a record with this text in a workspace, until the returned function is called. */
export async function refuseCreations(db: Db, workspaceId: string, text: string): Promise<() => Promise<unknown>> {
  const name = `refuse_${randomBytes(4).toString('hex')}`
  await db.query(`create function ${name}() returns trigger language plpgsql as $$ begin
    if new.workspace_id = '${workspaceId}' and new.after::text like '%${text}%' then raise exception 'refused'; end if; return new; end $$`)
  await db.query(`create trigger ${name} before insert on audit_entries for each row execute function ${name}()`)
  return () => db.query(`drop function ${name} cascade`)
}
