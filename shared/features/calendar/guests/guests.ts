import { makeSecret } from '#shared/core/people/tokens.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { AttendeeInput, GuestAnswer } from '#shared/features/calendar/events/schemas.ts'
import { type Attendee, findMembers, guestTokens, type WrittenAttendee } from '#shared/features/calendar/guests/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** A person to invite. `user_id` is null for a person outside the workspace. */
export interface Guest {
  readonly user_id: string | null
  readonly email: string
  readonly name: string
}

/**
 * Resolves the guests of a request, each address once. Throws VALIDATION_ERROR for a user_id that is no member's, and for a guest with neither
 * user_id nor email.
 */
export async function readGuests({ db, workspace }: Scope, sent: readonly AttendeeInput[]): Promise<Guest[]> {
  const ids = sent.flatMap(({ user_id }) => (user_id === undefined ? [] : [user_id]))
  const emails = sent.flatMap(({ email }) => (email === undefined ? [] : [email.toLowerCase()]))
  const members =
    ids.length + emails.length === 0 ? [] : await db.query(findMembers({ workspaceId: workspace.id, ids: ids.filter(isUuid), emails }))
  const byId = new Map(members.map((member) => [member.id, member]))
  const byEmail = new Map(members.map((member) => [member.email.toLowerCase(), member]))
  const guests = sent.map(({ user_id, email, name = '' }, index): Guest => {
    const member = user_id === undefined ? byEmail.get(email?.toLowerCase() ?? '') : byId.get(user_id.toLowerCase())
    if (user_id !== undefined && !member) throw problem('VALIDATION_ERROR', `attendees[${index}].user_id must be a member of the workspace`)
    if (member) return { user_id: member.id, email: member.email, name: member.name }
    if (email === undefined) throw problem('VALIDATION_ERROR', `attendees[${index}] must have user_id or email`)
    return { user_id: null, email, name }
  })
  return [...new Map(guests.map((guest) => [guest.email.toLowerCase(), guest])).values()]
}

/** Decrypts a guest's secret, which opens the invitation page. */
export const guestTokenOf = ({ config }: Pick<Scope, 'config'>, { id, token_sealed }: Pick<Attendee, 'id' | 'token_sealed'>): string =>
  guestTokens.open(config, { id }, token_sealed)

/** URL of the page where a guest answers. */
export const rsvpPageUrl = ({ config, workspace }: Pick<Scope, 'config' | 'workspace'>, token: string): string =>
  `${config.publicUrl}/rsvp/${workspace.id}/${token}`

/** URL of the .ics file of a guest's invitation. */
export const rsvpFileUrl = ({ config, workspace }: Pick<Scope, 'config' | 'workspace'>, token: string): string =>
  `${config.publicUrl}/cal/${workspace.id}/rsvp/${token}/ics`

/** Builds the row of a new guest with a new secret. A caller who invites itself has accepted. */
export function newAttendee(
  scope: Scope,
  eventId: string,
  guest: Guest,
  position: number,
  options: { readonly status?: GuestAnswer; readonly isBooker?: boolean } = {},
): WrittenAttendee {
  const id = newId()
  const token = makeSecret()
  const isSelf = guest.user_id !== null && guest.user_id === scope.actor.personId
  const status = options.status ?? (isSelf ? 'accepted' : 'needs_action')
  return {
    event_id: eventId,
    id,
    position,
    ...guest,
    status,
    is_booker: options.isBooker ?? false,
    is_mailed: false,
    token_hash: token.hash,
    token_sealed: guestTokens.seal(scope.config, { id }, token.text),
  }
}
