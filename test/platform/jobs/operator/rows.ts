import type { Db } from '#test/support/rows.ts'

/** An operation that a test makes up. */
export interface MadeOperation {
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly job?: string
  readonly workspaceId?: string | null
  readonly principalId?: string
  readonly requestId?: string
  readonly error?: { readonly code: string; readonly message: string }
  readonly createdAt: string
}

/** Adds an operation without a job; ends with the world unless it has ended. */
export async function addOperation(db: Db, made: MadeOperation): Promise<string> {
  const { status, job = 'records.export', workspaceId, principalId, requestId = 'made', error, createdAt } = made
  const { rows } = await db.query<{ id: string }>(
    `insert into operations (id, workspace_id, kind, job, principal_id, request_id, status, error, created_at, finished_at)
     values (uuidv7(), $1, $2, $2, $3, $4, $5, $6, $7, case when $5 in ('done', 'failed') then now() end) returning id`,
    [workspaceId, job, principalId, requestId, status, error && JSON.stringify(error), createdAt],
  )
  return rows[0]?.id ?? ''
}

/** The status of a mail of the outbox. */
export async function readMail(db: Db, id: string): Promise<{ status: string; last_error: string | null } | undefined> {
  const { rows } = await db.query<{ status: string; last_error: string | null }>(
    'select status, last_error from outbox_mails where id = $1',
    [id],
  )
  return rows[0]
}

/** Every text that the tables of jobs keep of a job. */
export async function readEnvelopes(db: Db): Promise<string> {
  const { rows } = await db.query<{ text: string }>(
    `select coalesce(string_agg(data::text, ' '), '') as text from (
       select data from pgboss.job union all select envelope from gated_jobs union all select envelope from deferred_jobs
     ) as kept`,
  )
  return rows[0]?.text ?? ''
}

/** Adds the dead letter of an export whose last attempt failed. */
export async function addDeadLetter(db: Db, id: string, workspaceId: string): Promise<void> {
  const data = {
    workspaceId,
    cause: { actorId: null, actorType: 'system', requestId: 'made', depth: 0 },
    payload: { typeKey: 'locations', q: null, filter: null, sort: null, dir: null },
  }
  await db.query(
    `insert into pgboss.job (id, name, data, output, source_name, source_id, source_created_on, source_retry_count)
     values (gen_random_uuid(), 'dead-letters', $1, '{"message": "made"}', 'records.export', $2, now(), 4)`,
    [JSON.stringify(data), id],
  )
}

/** The number of committed effects of a job of the races. */
export async function readEffects(db: Db, id: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from race_effects where id = $1', [id])
  return rows[0]?.count ?? 0
}
