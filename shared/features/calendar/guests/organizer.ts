import type { Scope } from '#shared/core/scope/scope.ts'
import type { Calendar } from '#shared/features/calendar/calendars/store.ts'
import { findMembersById } from '#shared/features/calendar/store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'

/** The organizer that guests see: the owner of a personal calendar, else the event's creator, else the calendar's name without address. */
export async function organizerOf(
  { db, workspace }: Scope,
  createdBy: string | null,
  { owner_id, name }: Pick<Calendar, 'owner_id' | 'name'>,
): Promise<{ readonly name: string; readonly email: string | null }> {
  const ids = [owner_id, createdBy].filter((id) => id !== null)
  const people = await findMembersById(db, workspace.id, ids)
  const person = people.find(({ id }) => id === owner_id) ?? people.find(({ id }) => id === createdBy)
  return person ? { name: person.name, email: person.email } : { name, email: null }
}

/**
 * The organizer in .ics files. Calendar programs answer to the organizer's own address. `sentBy` names the platform's address, from which
 * the mails come, since programs compare it with the sender (RFC 6047, section 3).
 */
export function organizerInFiles(
  { mailFrom }: Pick<Config, 'mailFrom'>,
  { name, email }: { readonly name: string; readonly email: string | null },
): { readonly name: string; readonly email: string; readonly sentBy?: string } {
  const platform = platformAddress({ mailFrom })
  return email === null || email.toLowerCase() === platform.toLowerCase() ? { name, email: platform } : { name, email, sentBy: platform }
}

/** The platform's sender address, without the display name. */
export const platformAddress = ({ mailFrom }: Pick<Config, 'mailFrom'>): string => /<([^<>]+)>\s*$/.exec(mailFrom)?.[1] ?? mailFrom
