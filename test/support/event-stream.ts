import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { ExecutionContext } from 'ava'
import { eventually } from '#test/support/eventually.ts'

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
  let [text, open, hasEnded] = ['', '', false]
  answer.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    const blocks = (open + piece).split('\n\n')
    // An event that was not sent to its end does not count.
    open = blocks.pop() ?? ''
    events.push(...blocks.flatMap(parseEvent))
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

function parseEvent(block: string): Received[] {
  const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
  const event = fields.get('event')
  return event === undefined ? [] : [{ id: fields.get('id'), event, data: JSON.parse(fields.get('data') ?? 'null') }]
}
