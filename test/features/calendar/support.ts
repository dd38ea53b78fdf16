import type { ExecutionContext } from 'ava'
import type { Client } from '#test/support/client.ts'
import { type Caller, createMember } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

type Body = Readonly<Record<string, unknown>>

/** The path of a calendar route of the workspace. */
export const at = (w: Pick<World, 'org'>, path: string): string => `${w.org.path}/calendar${path}`

/** Creates a calendar as the client, by default the owner, and returns it. Without `kind` in the body it is a team calendar. */
export async function makeCalendar(t: ExecutionContext, w: Pick<World, 'org'>, body: Body = {}, client: Client = w.org.owner) {
  const { status, data, text } = await client.post(at(w, '/calendars'), {
    key: `c-${crypto.randomUUID().slice(0, 8)}`,
    kind: 'org',
    name: 'Rooms',
    ...body,
  })
  t.is(status, 201, text)
  return data
}

/** Creates an event as the client, by default the owner, and returns it. */
export async function makeEvent(t: ExecutionContext, w: Pick<World, 'org'>, body: Body, client: Client = w.org.owner) {
  const { status, data, text } = await client.post(at(w, '/events'), { title: 'Review', start: '2026-12-01T09:00:00Z', ...body })
  t.is(status, 201, text)
  return data
}

/** The occurrences that the client sees from one instant to another, each as `title start`. `more` is further query text, such as `&q=x`. */
export async function occurrences(
  w: Pick<World, 'org'>,
  from: string,
  to: string,
  client: Client = w.org.owner,
  more = '',
): Promise<string[]> {
  const { data } = await client.get(at(w, `/events?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}${more}`))
  return data.events.map(({ title, start }: { title: string; start: string }) => `${title} ${start.replace(':00.000000Z', 'Z')}`)
}

/** A member without a role. */
export const stranger = (w: World): Promise<Caller> => createMember(w, w.org, [])
