import { hashPassword } from '#shared/core/people/passwords.ts'
import { emailIndexName, insertPerson, type Person } from '#shared/core/people/store.ts'
import { makeSecret } from '#shared/core/people/tokens.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A new person, not stored yet, with the hash of its chosen password. */
export const preparePerson = async (person: { email: string; name: string; password: string }): Promise<Person> => ({
  id: newId(),
  email: person.email.trim(),
  name: person.name.trim(),
  password_hash: await hashPassword(person.password),
})

/** Creates an account; KEY_TAKEN when the address has one. */
export async function createPerson({ db }: PlatformScope, input: { email: string; name: string; password: string }): Promise<Person> {
  const person = await preparePerson(input)
  try {
    await insertPerson(db, person)
  } catch (cause) {
    if (uniqueViolation(cause) !== emailIndexName) throw cause
    throw problem('KEY_TAKEN', `email ${person.email} belongs to somebody already`, { cause })
  }
  return person
}

/** A random password of 24 letters and digits. */
export const generatePassword = (): string => makeSecret().text.slice(-24)
