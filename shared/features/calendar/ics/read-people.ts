import type { GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import { propertiesOf, property } from '#shared/features/calendar/ics/components.ts'
import { cleanFileText, type Jcal, type JcalProperty } from '#shared/features/calendar/ics/jcal.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** A guest of a file. */
interface FileGuest {
  readonly email: string
  readonly name: string
  readonly status: GuestAnswer
}

/** The people of an event. */
export interface FilePeople {
  readonly organizer: { readonly name: string; readonly email: string } | null
  readonly guests: readonly FileGuest[]
}

const maxGuests = 100

const answers: Readonly<Record<string, GuestAnswer>> = { ACCEPTED: 'accepted', DECLINED: 'declined', TENTATIVE: 'tentative' }

/** Reads the organizer and the guests of an event. Guests without a mail address, and those above 100, are noted. */
export function peopleOf(component: Jcal, notes: string[]): FilePeople {
  const organizer = property(component, 'organizer')
  const attendees = propertiesOf(component, 'attendee').map((one) => ({
    ...personOf(one),
    status: answers[String(one[1].partstat).toUpperCase()] ?? ('needs_action' as const),
  }))
  const reached = attendees.filter(({ email }) => email.includes('@'))
  const guests = [...new Map(reached.map((guest) => [guest.email.toLowerCase(), guest])).values()]
  if (reached.length < attendees.length)
    notes.push(`has ${attendees.length - reached.length} guests without a mail address, who are left out`)
  if (guests.length > maxGuests) notes.push(`has ${guests.length} guests, of which ${maxGuests} are kept`)
  return { organizer: organizer ? personOf(organizer) : null, guests: guests.slice(0, maxGuests) }
}

/** A person by the mail address of the value, else by its EMAIL parameter (RFC 7986, 6.2), else by the value as it is. */
function personOf([, { cn = '', email = '' }, , value]: JcalProperty): { email: string; name: string } {
  const plain = (text: unknown) =>
    cleanFileText(String(text ?? ''))
      .trim()
      .replace(/^mailto:/i, '')
      .trim()
  const own = plain(value)
  const isAddress = (text: string) => /^[^\s@/:]+@[^\s@/:]+$/.test(text)
  const named = plain(email)
  return { email: cutText(!isAddress(own) && isAddress(named) ? named : own, 320), name: cutText(cleanFileText(String(cn)), 200) }
}
