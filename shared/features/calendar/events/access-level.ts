import { type Access, isAccessAtLeast } from '#shared/features/calendar/access.ts'
import type { EventRow } from '#shared/features/calendar/events/store.ts'

/** A viewer's access to an event: nothing, busy time only, or the details. */
export type EventAccess = 'none' | 'busy' | 'details'

/** The viewer's access to the calendar, and whether it is a guest of the event. A subscription link has access `read`. */
export interface EventViewer {
  readonly access: Access
  readonly isGuest: boolean
}

/**
 * A viewer's access to an event. Lists, exports, feeds, mails and triggers all use this rule. The details of a private event are for
 * guests and for those who own, manage or may write its calendar; readers see busy time (docs/contract/calendar.md#event-details).
 */
export function eventAccessOf({ visibility }: Pick<EventRow, 'visibility'>, { access, isGuest }: EventViewer): EventAccess {
  const maySeeDetails = isAccessAtLeast(access, 'read') && (visibility !== 'private' || isAccessAtLeast(access, 'write'))
  if (isGuest || maySeeDetails) return 'details'
  return isAccessAtLeast(access, 'busy') ? 'busy' : 'none'
}

/** Title shown instead of the event's when the details are hidden. */
export const hiddenTitle = 'Busy'
