import { hashPassword } from '#shared/core/people/passwords.ts'
import { emailIndexName, insertPerson, type Person } from '#shared/core/people/store.ts'
import { makeSecret } from '#shared/core/people/tokens.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { uniqueViolation } from '#shared/platform/db/database-errors.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A new person, not stored yet. */
export const preparePerson = ({ email, name, hash }: { email: string; name: string; hash: string }): Person => ({
  id: newId(),
  email: email.trim(),
  name: name.trim(),
  password_hash: hash,
})

/** Creates an account for the operator; KEY_TAKEN when the address has one. */
export async function createPerson({ db }: PlatformScope, input: { email: string; name: string; password: string }): Promise<Person> {
  const person = preparePerson({ ...input, hash: await hashPassword(input.password) })
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
