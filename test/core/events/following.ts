import type { ExecutionContext } from 'ava'
import type { Seen } from '#test/core/events/reading.ts'
import type { Client } from '#test/support/client.ts'
import { type OpenedStream, openStream, type Received } from '#test/support/event-stream.ts'
import { eventually } from '#test/support/eventually.ts'
import type { World } from '#test/support/world.ts'

/** Opens a stream of the world's workspace as a caller, at the client's server. */
export const follow = (
  t: Pick<ExecutionContext, 'teardown'>,
  { org }: Pick<World, 'org'>,
  { root, token }: Pick<Client, 'root' | 'token'>,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenedStream> =>
  openStream(t, `${root}${org.path}/events${query}`, { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers })

/** Whether a received event is one of the list, and not a heartbeat or a call to start again. */
const isListed = ({ event }: Received): boolean => event !== 'seen' && event !== 'resync'

/** The events of the list that a stream has received. */
export const listedOf = ({ events }: Pick<OpenedStream, 'events'>): Seen[] =>
  events()
    .filter(isListed)
    .map(({ data }) => data as Seen)

/** The numbers of the events that a stream has received. */
export const seqsOf = (stream: Pick<OpenedStream, 'events'>): number[] => listedOf(stream).map(({ seq }) => seq)

/** Waits until a stream has received so many events of the list. */
export const received = (stream: Pick<OpenedStream, 'events'>, count: number): Promise<unknown> =>
  eventually(() => listedOf(stream).length >= count)
