import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { findPeople } from '#shared/calendar/people-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Whose event it is, as guests know it: the owner of a personal calendar, else who made it, else the calendar. */
export async function organizerOf(
  { db, workspace }: Scope,
  createdBy: string | null,
  { owner_id, name }: Pick<Calendar, 'owner_id' | 'name'>,
): Promise<{ readonly name: string; readonly email: string | null }> {
  const people = new Map(
    (
      await findPeople(
        db,
        workspace.id,
        [owner_id, createdBy].filter((id) => id !== null),
      )
    ).map((person) => [person.id, person]),
  )
  const person = people.get(owner_id ?? '') ?? people.get(createdBy ?? '')
  return person ? { name: person.name, email: person.email } : { name, email: null }
}
