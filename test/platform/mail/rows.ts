import type { Db } from '#test/support/rows.ts'

/** The number of mails in one of these states. */
export async function countMails(db: Db, states: readonly string[]): Promise<number> {
  return (await db.query('select from outbox_mails where status = any($1)', [states])).rowCount ?? 0
}

/** Adds a mail that says `text` in each of its parts, as if it had been tried twice. */
export async function addMail(
  db: Db,
  {
    status,
    workspaceId = null,
    to,
    text,
    error = null,
  }: { status: string; workspaceId?: string | null; to: string; text: string; error?: string | null },
): Promise<void> {
  await db.query(
    `insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text, body_html, headers, status, last_error, attempts)
     values (uuidv7(), $1, 'invitation', $2, $3, $3, $3, jsonb_build_object('X-Text', $3::text), $4, $5, 2)`,
    [workspaceId, to, text, status, error],
  )
}

/** Removes every mail. */
export async function deleteMails(db: Db): Promise<void> {
  await db.query('delete from outbox_mails')
}

/** Makes the mails of killed workers due again: old heartbeats count as lost, and retries come at once. */
export async function hurryLostMails(db: Db): Promise<void> {
  await db.query(
    `update pgboss.job set heartbeat_on = now() - interval '1 minute'
     where name = 'mail.send' and state = 'active' and heartbeat_on < now() - interval '5 seconds'`,
  )
  await db.query(`update pgboss.job set start_after = now() where name = 'mail.send' and state = 'retry'`)
  await db.query(`update due_work set at = 'epoch' where kind = 'mail'`)
}

/** The seconds until each mail that waits for its next attempt is sent. */
export async function readRetryDelays(db: Db): Promise<number[]> {
  const { rows } = await db.query<{ seconds: number }>(
    `select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where name = 'mail.send' and state = 'retry'`,
  )
  return rows.map(({ seconds }) => seconds)
}

/** A mail as it is stored. */
export interface StoredMail {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly last_error: string | null
  readonly body_text: string
  readonly sent_at: Date | null
}

/** All mails in the order of their ids. */
export async function readMails(db: Db): Promise<StoredMail[]> {
  const statement = 'select id, status, attempts, last_error, body_text, sent_at from outbox_mails order by id'
  return (await db.query<StoredMail>(statement)).rows
}
