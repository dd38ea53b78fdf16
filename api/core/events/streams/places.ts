import type { StreamServices } from '#api/core/events/streams/workspace-streams.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { maxStreams, renewPlaces, takePlace } from '#shared/platform/events/streams-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Milliseconds for which a place is held without a renewal: the process that held it has died then. */
const placeMs = 30_000

/** Tries to take a place while others take places, too. Each try fails only where another stream has taken a place. */
const maxTries = 2 * maxStreams

/** Retry-After, in seconds, where all places are taken: streams have no end of their own. */
const retrySeconds = 30

type Services = Pick<StreamServices, 'database' | 'now'>

/** Takes a place of a workspace for a stream and returns the stream's id. Throws RATE_LIMITED when all are taken. */
export async function takeStreamPlace({ database, now }: Services, workspaceId: string): Promise<string> {
  const streamId = newId()
  for (let tries = 0; tries < maxTries; tries += 1) {
    const time = now()
    const row = await firstRow(database, takePlace({ workspaceId, streamId, now: time, expiresAt: expiryOf(time) }))
    if (row && row.place !== null) return streamId
    if (!row?.wasFree) break
  }
  throw problem('RATE_LIMITED', `A workspace has at most ${maxStreams} streams of events at a time: close one, or read pages of the list`, {
    headers: { 'Retry-After': String(retrySeconds) },
  })
}

/** Keeps the places of streams, and returns the ids of those that still hold theirs. */
export async function keepPlaces(
  { database, now }: Services,
  workspaceIds: readonly string[],
  streamIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query(renewPlaces({ workspaceIds, streamIds, expiresAt: expiryOf(now()) }))
  return new Set(rows.map(({ streamId }) => streamId))
}

const expiryOf = (time: Date): Date => new Date(time.getTime() + placeMs)
