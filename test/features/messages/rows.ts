import type { Db } from '#test/support/rows.ts'

/** Inserts so many addresses into the do-not-contact list: a@example.com, b@example.com and so on. */
export async function addDoNotContact(db: Db, workspaceId: string, count: number): Promise<void> {
  await db.query(
    `insert into do_not_contact (workspace_id, address, reason, created_at)
     select $1, chr(96 + n) || '@example.com', 'unsubscribed', now() from generate_series(1, $2) as n`,
    [workspaceId, count],
  )
}

/** Inserts an invitation's mail, which no list of messages shows. */
export async function addInvitationMail(db: Db, workspaceId: string): Promise<void> {
  await db.query(
    `insert into outbox_mails (workspace_id, id, kind, recipient, subject, body_text) values ($1, uuidv7(), 'invitation', 'a', 'b', 'c')`,
    [workspaceId],
  )
}

/** Inserts messages, by turns failed and sent. Returns their ids, oldest first. */
export async function addMessages(db: Db, workspaceId: string, count: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `insert into outbox_mails (workspace_id, id, kind, recipient, contact_keys, subject, body_text, status)
     select $1, uuidv7(), 'message', n || '@example.com', array[n || '@example.com'], 'A', 'B', case when n % 2 = 0 then 'sent' else 'failed' end
     from generate_series(1, $2) as n returning id`,
    [workspaceId, count],
  )
  return rows.map(({ id }) => id)
}

/** Sets the creation of messages so many days back. */
export async function ageMessages(db: Db, ids: readonly string[], days: number): Promise<void> {
  await db.query(`update outbox_mails set created_at = now() - $2 * interval '1 day' where id = any($1)`, [ids, days])
}

/** Leaves a message as a worker does that was killed while sending it. */
export async function markSending(db: Db, id: string): Promise<void> {
  await db.query(`update outbox_mails set status = 'sending' where id = $1`, [id])
}

/** A connection as it is stored, with every column. */
export type StoredConnection = Readonly<Record<string, unknown>> & { readonly password: Buffer | null; readonly dkim_key: Buffer }

/** Reads a connection with every column. */
export async function readConnection(db: Db, id: string): Promise<StoredConnection> {
  return (await db.query('select * from message_connections where id = $1', [id])).rows[0]
}

/** Everything that is stored for Idempotency-Keys, as JSON. */
export async function readIdempotencyRecords(db: Db): Promise<string> {
  return JSON.stringify((await db.query('select * from idempotency_records')).rows)
}

/** The status of the mail that invited an address. */
export async function readInvitationStatus(db: Db, recipient: string): Promise<string | undefined> {
  const { rows } = await db.query<{ status: string }>(`select status from outbox_mails where kind = 'invitation' and recipient = $1`, [
    recipient,
  ])
  return rows[0]?.status
}
