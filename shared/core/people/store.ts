import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** A person's account, which may belong to many workspaces. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly password_hash: string
}

const columns = 'id, email, name, password_hash'

const findByEmail = sql('find_person_by_email', `select ${columns} from users where lower(email) = lower($1)`)
/** The person with this address, in whatever letter case. */
export async function findPersonByEmail(db: Executor, email: string): Promise<Person | undefined> {
  return (await db.query<Person>(findByEmail(email.trim())))[0]
}

const find = sql('find_person', `select ${columns} from users where id = $1`)
export async function findPerson(db: Executor, id: string): Promise<Person | undefined> {
  return (await db.query<Person>(find(id)))[0]
}

/** The unique index by which no two people have the same address, in whatever letter case. */
export const emailIndexName = 'users_email'

const insert = sql('insert_person', 'insert into users (id, email, name, password_hash) values ($1, $2, $3, $4)')
/** Stores a new person; an address that another person has violates the index `emailIndexName`. */
export async function insertPerson(db: Executor, { id, email, name, password_hash }: Person): Promise<void> {
  await db.query(insert(id, email, name, password_hash))
}

const setHash = sql('set_password', 'update users set password_hash = $2 where id = $1')
export async function setPasswordHash(db: Executor, userId: string, hash: string): Promise<void> {
  await db.query(setHash(userId, hash))
}

const replaceHash = sql('replace_password', 'update users set password_hash = $3 where id = $1 and password_hash = $2 returning id')
/** Sets a new password of a person; false when the password has changed since `person` was read. */
export async function replacePasswordHash(db: Executor, person: Pick<Person, 'id' | 'password_hash'>, hash: string): Promise<boolean> {
  return (await db.query(replaceHash(person.id, person.password_hash, hash))).length > 0
}

const insertSessionRow = sql(
  'insert_session',
  `insert into sessions (id, user_id, token_hash, expires_at)
   select $1, person.id, $3, $4 from (select id from users where id = $2 and password_hash = $5 for share) as person
   returning id`,
)
/**
 * Stores a session of a person; false when the password has changed since `person` was read. Waits for a transaction that is changing the
 * password, so no session that was opened with the old password is left after that transaction has ended all sessions.
 */
export async function insertSession(
  db: Executor,
  { id, person, tokenHash, expiresAt }: { id: string; person: Person; tokenHash: Buffer; expiresAt: string },
): Promise<boolean> {
  return (await db.query(insertSessionRow(id, person.id, tokenHash, expiresAt, person.password_hash))).length > 0
}

const deleteOne = sql('delete_session', 'delete from sessions where id = $1')
export async function deleteSession(db: Executor, id: string): Promise<void> {
  await db.query(deleteOne(id))
}

const deleteOthers = sql('delete_other_sessions', 'delete from sessions where user_id = $1 and id is distinct from $2')
/** Ends every session of a person except `sessionId`; all sessions when it is null. */
export async function deleteOtherSessions(db: Executor, userId: string, sessionId: string | null): Promise<void> {
  await db.query(deleteOthers(userId, sessionId))
}

const insertResetRow = sql(
  'insert_reset',
  `insert into password_resets (token_hash, user_id, expires_at)
   select $1, $2, $3 where (select count(*) from password_resets where user_id = $2 and expires_at > $4) < $5
   returning user_id`,
)
/** Stores a reset token; false when the person already has `most` tokens that are neither used nor expired. */
export async function insertResetToken(
  db: Executor,
  reset: { tokenHash: Buffer; userId: string; expiresAt: Date; now: Date; most: number },
): Promise<boolean> {
  const { tokenHash, userId, expiresAt, now, most } = reset
  return (await db.query(insertResetRow(tokenHash, userId, expiresAt, now, most))).length > 0
}

const findResetRow = sql('find_reset', 'select user_id from password_resets where token_hash = $1 and expires_at > $2')
/** The person whom a reset token is for; undefined when the token has been used, has expired or is unknown. */
export async function findResetPersonId(db: Executor, tokenHash: Buffer, now: Date): Promise<string | undefined> {
  return (await db.query<{ user_id: string }>(findResetRow(tokenHash, now)))[0]?.user_id
}

const useResetRow = sql('use_reset', 'delete from password_resets where token_hash = $1 and expires_at > $2 returning user_id')
/** Uses up a reset token: of several concurrent calls with one token, one returns true. */
export async function consumeResetToken(db: Executor, tokenHash: Buffer, now: Date): Promise<boolean> {
  return (await db.query(useResetRow(tokenHash, now))).length > 0
}

const deleteResetRows = sql('delete_resets', 'delete from password_resets where user_id = $1')
export async function deleteResetTokens(db: Executor, userId: string): Promise<void> {
  await db.query(deleteResetRows(userId))
}
