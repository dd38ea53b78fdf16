import { makeSecret } from '#shared/core/people/tokens.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireCalendar } from '#shared/features/calendar/access.ts'
import { type Calendar, feedSecrets, writeFeedSecret } from '#shared/features/calendar/calendars/store.ts'
import { deleteFeedFile } from '#shared/features/calendar/feeds/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** The subscription link of a calendar; undefined while it is off. */
export function feedUrl(scope: Scope, { id, feed_sealed }: Calendar): string | undefined {
  if (feed_sealed === null) return undefined
  return `${scope.config.publicUrl}/cal/${scope.workspace.id}/feed/${feedSecrets.open(scope.config, { id }, feed_sealed)}.ics`
}

/** Turns the subscription link on, each time with a new secret, or off. Throws VALIDATION_ERROR for a records calendar. */
export async function switchFeed(scope: Scope, id: string, enabled: boolean) {
  const { calendar, access } = await requireCalendar(scope, id, 'manage')
  if (calendar.kind === 'records') throw problem('VALIDATION_ERROR', 'A records calendar has no subscription link')
  const token = makeSecret()
  const feed = enabled ? { hash: token.hash, sealed: feedSecrets.seal(scope.config, calendar, token.text) } : null
  return scope.db.transaction(async (tx) => {
    // The stored file is deleted with the old link; the first request of a new link writes it again.
    await tx.query(deleteFeedFile({ workspaceId: scope.workspace.id, calendarId: calendar.id }))
    return { calendar: await writeFeedSecret(tx, scope.workspace.id, calendar, feed, scope.now()), access }
  })
}
