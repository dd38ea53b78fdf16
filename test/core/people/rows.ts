import type { Db } from '#test/support/rows.ts'

/** Changes a person's password as another process would. */
export async function changePasswordHash(db: Db, userId: string): Promise<void> {
  await db.query(`update users set password_hash = 'other' where id = $1`, [userId])
}

/** Deletes a person's password resets, as using one does. */
export async function deleteResets(db: Db, userId: string): Promise<void> {
  await db.query('delete from password_resets where user_id = $1', [userId])
}

/** Lets a person's password resets expire now. */
export async function expireResets(db: Db, userId: string): Promise<void> {
  await db.query('update password_resets set expires_at = now() where user_id = $1', [userId])
}

/** Lets a person's sessions expire a second ago. */
export async function expireSessions(db: Db, userId: string): Promise<void> {
  await db.query(`update sessions set expires_at = now() - interval '1 second' where user_id = $1`, [userId])
}

/** The recipients of all stored mails to these addresses, one for each mail. */
export async function listRecipients(db: Db, addresses: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ recipient: string }>('select recipient from outbox_mails where recipient = any($1)', [addresses])
  return rows.map(({ recipient }) => recipient)
}

/** The stored hash of a person's password. */
export async function readPasswordHash(db: Db, userId: string): Promise<string> {
  const { rows } = await db.query<{ password_hash: string }>('select password_hash from users where id = $1', [userId])
  return rows[0]?.password_hash ?? ''
}

/** A person's password resets, with the minutes until each expires. */
export async function readResets(db: Db, userId: string): Promise<{ token_hash: Buffer; minutes: number }[]> {
  const { rows } = await db.query<{ token_hash: Buffer; minutes: number }>(
    'select token_hash, extract(epoch from expires_at - now())::float8 / 60 as minutes from password_resets where user_id = $1',
    [userId],
  )
  return rows
}

/** A person's sessions, with every column. */
export async function readSessions(db: Db, userId: string): Promise<Record<string, unknown>[]> {
  return (await db.query('select * from sessions where user_id = $1', [userId])).rows
}
