import { randomUUID } from 'node:crypto'
import { hashPassword } from '#shared/access/passwords.ts'
import type { Caller } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** The password of every account that `createAccount` makes. */
export const password = 'correct horse battery'
let hash: Promise<string> | undefined

/** A person who can sign in, with the address that it does so by. */
export interface Account extends Caller {
  readonly email: string
}

/** Makes a person who knows its password, and signs it in. */
export async function createAccount({ db, visitor }: World, email = `${randomUUID()}@example.com`, name = 'Ann Account'): Promise<Account> {
  hash ??= hashPassword(password)
  const id = randomUUID()
  await db.query('insert into users (id, email, name, password_hash) values ($1, $2, $3, $4)', [id, email, name, await hash])
  const { data } = await visitor.post('/v1/auth/sign-in', { email, password })
  return { id, email, client: visitor.as(data.token) }
}
