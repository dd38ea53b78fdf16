import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import { bigint, bytes, instant, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = { id: uuid.notNull, email: text.notNull, name: text.notNull, password_hash: text.notNull }

/** A person's account, which may belong to many workspaces. */
export type Person = RowOf<typeof columns>

const findByEmail = statement('people.findByEmail', `select ${selectList(columns)} from users where lower(email) = lower($email)`, {
  params: { email: text },
  columns,
})
/** The person with this address, in whatever letter case. */
export async function findPersonByEmail(db: Executor, email: string): Promise<Person | undefined> {
  return firstRow(db, findByEmail({ email: email.trim() }))
}

export const findPerson = statement('people.findPerson', `select ${selectList(columns)} from users where id = $id`, {
  params: { id: uuid },
  columns,
})

/** The unique index by which no two people have the same address, in whatever letter case. */
export const emailIndexName = 'users_email'

const insertUser = statement(
  'people.insertUser',
  'insert into users (id, email, name, password_hash) values ($id, $email, $name, $passwordHash)',
  { params: { id: uuid, email: text, name: text, passwordHash: text } },
)
/** Stores a new person; an address that another person has violates the index `emailIndexName`. */
export async function insertPerson(db: Executor, { id, email, name, password_hash }: Person): Promise<void> {
  await db.query(insertUser({ id, email, name, passwordHash: password_hash }))
}

export const setPasswordHash = statement('people.setPasswordHash', 'update users set password_hash = $hash where id = $id', {
  params: { id: uuid, hash: text },
})

/** Sets a new password of a person; no row when the password is not `knownHash` any more. */
export const replacePasswordHash = statement(
  'people.replacePasswordHash',
  'update users set password_hash = $hash where id = $id and password_hash = $knownHash returning id',
  { params: { id: uuid, knownHash: text, hash: text }, columns: { id: uuid.notNull } },
)

const insertSessionRow = statement(
  'people.insertSessionRow',
  `insert into sessions (id, user_id, token_hash, expires_at)
   select $id, person.id, $tokenHash, $expiresAt
   from (select id from users where id = $userId and password_hash = $passwordHash for share) as person
   returning id`,
  {
    params: { id: uuid, userId: uuid, tokenHash: bytes, expiresAt: instant, passwordHash: text },
    columns: { id: uuid.notNull },
  },
)
/**
 * Stores a session of a person; false when the password has changed since `person` was read. Waits for a transaction that is changing the
 * password, so no session that was opened with the old password is left after that transaction has ended all sessions.
 */
export async function insertSession(
  db: Executor,
  { id, person, tokenHash, expiresAt }: { id: string; person: Person; tokenHash: Buffer; expiresAt: string },
): Promise<boolean> {
  const session = { id, userId: person.id, tokenHash, expiresAt, passwordHash: person.password_hash }
  return (await db.query(insertSessionRow(session))).length > 0
}

export const deleteSession = statement('people.deleteSession', 'delete from sessions where id = $id', { params: { id: uuid } })

/** Ends every session of a person except `sessionId`; all sessions when it is null. */
export const deleteOtherSessions = statement(
  'people.deleteOtherSessions',
  'delete from sessions where user_id = $userId and id is distinct from $sessionId',
  { params: { userId: uuid, sessionId: uuid.orNull } },
)

const insertReset = statement(
  'people.insertReset',
  `insert into password_resets (token_hash, user_id, expires_at)
   select $tokenHash, $userId, $expiresAt
   where (select count(*) from password_resets where user_id = $userId and expires_at > $now) < $most
   returning user_id`,
  {
    params: { tokenHash: bytes, userId: uuid, expiresAt: instant, now: instant, most: bigint },
    columns: { user_id: uuid.notNull },
  },
)
/** Stores a reset token; false when the person already has `most` tokens that are neither used nor expired. */
export async function insertResetToken(
  db: Executor,
  reset: { tokenHash: Buffer; userId: string; expiresAt: Date; now: Date; most: number },
): Promise<boolean> {
  return (await db.query(insertReset(reset))).length > 0
}

/** The person whom a reset token is for; no row when the token has been used, has expired or is unknown. */
export const findReset = statement(
  'people.findReset',
  'select user_id from password_resets where token_hash = $tokenHash and expires_at > $now',
  {
    params: { tokenHash: bytes, now: instant },
    columns: { user_id: uuid.notNull },
  },
)

/** Uses up a reset token: of several concurrent calls with one token, one gets the row. */
export const consumeResetToken = statement(
  'people.consumeResetToken',
  'delete from password_resets where token_hash = $tokenHash and expires_at > $now returning user_id',
  { params: { tokenHash: bytes, now: instant }, columns: { user_id: uuid.notNull } },
)

export const deleteResetTokens = statement('people.deleteResetTokens', 'delete from password_resets where user_id = $userId', {
  params: { userId: uuid },
})
