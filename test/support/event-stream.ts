import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { ExecutionContext } from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { eventReader, type StreamPart } from '../../bin/client/event-stream.ts'

/** A server-sent event as a client reads it. */
export interface Received {
  readonly id: string | undefined
  readonly event: string
  readonly data: unknown
}

/** A stream of events that is read until it ends. */
export interface OpenedStream {
  readonly answer: IncomingMessage
  /** What has been read so far. */
  readonly text: () => string
  readonly events: () => readonly Received[]
  readonly hasEnded: () => boolean
  /** Breaks the connection off. */
  readonly cut: () => void
}

/** Opens a stream and reads it until it ends, or until the test does. */
export async function openStream(
  t: Pick<ExecutionContext, 'teardown'>,
  address: string,
  headers: Readonly<Record<string, string>>,
): Promise<OpenedStream> {
  const sent = request(address, { headers, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  t.teardown(() => sent.destroy())
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const events: Received[] = []
  const read = eventReader()
  let [text, hasEnded] = ['', false]
  answer.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    events.push(...read(piece).flatMap(parseData))
  })
  answer
    .on('error', () => undefined)
    .once('close', () => {
      hasEnded = true
    })
  return { answer, text: () => text, events: () => events, hasEnded: () => hasEnded, cut: () => sent.destroy() }
}

/** The longest time until a stream has ended, on a busy machine. */
const endsWithinMs = 5_000

/** Resolves once a stream has ended. */
export const ended = ({ hasEnded }: OpenedStream): Promise<unknown> => eventually(hasEnded, endsWithinMs)

const parseData = ({ id, event, data = 'null' }: StreamPart): Received[] =>
  event === undefined ? [] : [{ id, event, data: JSON.parse(data) }]
