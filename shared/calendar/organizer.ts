import type { Calendar } from '#shared/calendar/calendars-store.ts'
import { findPeople } from '#shared/calendar/people-store.ts'
import type { Config } from '#shared/kernel/config.ts'
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

/**
 * The organizer as files name it: answers of calendar programs go to the organizer's own address. Mails come from the platform's address, which
 * is named as the sender on the organizer's behalf, since programs compare the two (RFC 6047, section 3).
 */
export function organizerInFiles(
  { mailFrom }: Pick<Config, 'mailFrom'>,
  { name, email }: { readonly name: string; readonly email: string | null },
): { readonly name: string; readonly email: string; readonly sentBy?: string } {
  const platform = platformAddress({ mailFrom })
  return email === null || email.toLowerCase() === platform.toLowerCase() ? { name, email: platform } : { name, email, sentBy: platform }
}

/** The address from which the platform mails. */
export const platformAddress = ({ mailFrom }: Pick<Config, 'mailFrom'>): string => /<([^<>]+)>\s*$/.exec(mailFrom)?.[1] ?? mailFrom
