import { hashPassword } from '#shared/core/people/passwords.ts'
import { emailIndexName, insertPerson, type Person } from '#shared/core/people/store.ts'
import { makeSecret } from '#shared/core/people/tokens.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A person who is not kept yet, with a password that it chose. */
export const preparePerson = async (person: { email: string; name: string; password: string }): Promise<Person> => ({
  id: newId(),
  email: person.email.trim(),
  name: person.name.trim(),
  password_hash: await hashPassword(person.password),
})

/** Makes an account; KEY_TAKEN when somebody has the address. */
export async function createPerson({ db }: PlatformScope, given: { email: string; name: string; password: string }): Promise<Person> {
  const person = await preparePerson(given)
  try {
    await insertPerson(db, person)
  } catch (cause) {
    if (uniqueViolation(cause) !== emailIndexName) throw cause
    throw problem('KEY_TAKEN', `email ${person.email} belongs to somebody already`, { cause })
  }
  return person
}

/** A password for somebody who has not chosen one: 24 letters and digits. */
export const generatePassword = (): string => makeSecret().text.slice(-24)
