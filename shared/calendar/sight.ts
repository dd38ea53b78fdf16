import { atLeast } from '#shared/calendar/access.ts'
import type { EventRow } from '#shared/calendar/event.ts'
import type { Access } from '#shared/calendar/schemas.ts'

/** How much of an event somebody sees: nothing, that the time is taken, or all of it. */
export type Sight = 'none' | 'busy' | 'details'

/** Who looks: with what access to the calendar, and whether it is among the guests. A subscription link is a reader. */
export interface Viewer {
  readonly access: Access
  readonly isGuest: boolean
}

/**
 * What of an event somebody sees: the one rule that lists, exports, feeds, mails and triggers go by. A private event shows its details to
 * those who own, manage or may write its calendar and to its guests; readers see that the time is taken (decisions, Calendar).
 */
export function sightOf({ visibility }: Pick<EventRow, 'visibility'>, { access, isGuest }: Viewer): Sight {
  if (isGuest || atLeast(access, 'write')) return 'details'
  if (access === 'read') return visibility === 'private' ? 'busy' : 'details'
  return access === 'busy' ? 'busy' : 'none'
}

/** What stands for the title where the details are hidden. */
export const hiddenTitle = 'Busy'
