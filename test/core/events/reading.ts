import type { Client } from '#test/support/client.ts'
import { numberEvents } from '#test/support/events.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/** An event as an answer holds it. */
export interface Seen {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly at: string
  readonly actor: { readonly id: string | null; readonly type: string }
  readonly cause: { readonly kind: string; readonly id: string | null }
  readonly subject: Readonly<Record<string, string>>
  /** As the API answers it: its keys depend on the type. */
  readonly data: Answer['data']
}

/** A page as a caller gets it, after all events are numbered. */
export async function readPage(
  w: World,
  client: Client,
  query = '',
): Promise<{ events: Seen[]; next_after: string; last_seq: number; oldest_seq: number; feed: string }> {
  await numberEvents(w)
  const { status, data, text } = await client.get(`${w.org.path}/events${query}`)
  if (status !== 200) throw new Error(text)
  return data
}

/** All events that a caller sees after a position, page by page. */
export async function readAll(w: World, client: Client, after?: string | number): Promise<Seen[]> {
  const seen: Seen[] = []
  for (let at = after; ; ) {
    const { events, next_after, last_seq } = await readPage(w, client, at === undefined ? '' : `?after=${at}`)
    seen.push(...events)
    if (Number(next_after.split(':')[1]) === last_seq) return seen
    at = next_after
  }
}

/** The number of a workspace's last event. */
export const lastSeq = async (w: World): Promise<number> => (await readPage(w, w.org.owner)).last_seq
