import { randomBytes, randomUUID } from 'node:crypto'
import { hashPassword } from '#shared/core/people/passwords.ts'
import { makeSecret } from '#shared/core/people/tokens.ts'
import type { Client } from '#test/support/client.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/** The password of every account that `createAccount` makes. */
export const password = 'correct horse battery'
let hash: Promise<string> | undefined

/** A person who can sign in, with the address. */
export interface Account extends Caller {
  readonly email: string
}

/** Creates a person with a known password, and signs it in. */
export async function createAccount({ db, visitor }: World, email = `${randomUUID()}@example.com`, name = 'Ann Account'): Promise<Account> {
  hash ??= hashPassword(password)
  const id = randomUUID()
  await db.query('insert into users (id, email, name, password_hash) values ($1, $2, $3, $4)', [id, email, name, await hash])
  const { data } = await signIn(visitor, email)
  return { id, email, client: visitor.as(data.token) }
}

/** A token as a mail would contain it, with which this person can set a new password. */
export async function resetToken({ db }: Pick<World, 'db'>, userId: string): Promise<string> {
  const { text, hash } = makeSecret()
  const insert = `insert into password_resets (token_hash, user_id, expires_at) values ($1, $2, now() + interval '1 hour')`
  await db.query(insert, [hash, userId])
  return text
}

/** Tries to sign in, from its own network address. */
export const signIn = (client: Client, email: string, given = password): Promise<Answer> =>
  client.post('/v1/auth/sign-in', { email, password: given }, fromAnywhere())

/** Headers of a request from its own network address, in a world behind one proxy: limits of others do not apply. */
export const fromAnywhere = (): Record<string, string> => {
  const [first, second, third] = randomBytes(6).toString('hex').match(/.{4}/g) ?? []
  return { 'x-forwarded-for': `2001:${first}:${second}:${third}::1` }
}
