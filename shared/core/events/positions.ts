import type { Feed } from '#shared/platform/events/feed-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Where a reader is: after a number of a list. Without a list, of the present one. */
export interface Position {
  readonly feed: string | undefined
  readonly seq: number
}

/** Where clients get positions, by the parameter or header that sends them. */
const origins = { after: 'next_after of an earlier answer', 'Last-Event-ID': 'the id of an event of a stream' } as const

/** Reads `<feed>:<seq>` or a number. Throws VALIDATION_ERROR that names the parameter or header. */
export function parsePosition(text: string, name: keyof typeof origins): Position {
  const [, feed, digits] = /^(?:([^:]+):)?(\d{1,15})$/.exec(text) ?? []
  if (digits === undefined || (feed !== undefined && !isUuid(feed)))
    throw problem('VALIDATION_ERROR', `${name} must be ${origins[name]}, or a number of this list`)
  return { feed: feed?.toLowerCase(), seq: Number(digits) }
}

/** Why a reader cannot go on from a position: it is of another list, ahead of this one, or before what is kept. Undefined where it can. */
export function positionProblem({ feed, lastSeq, oldestSeq }: Feed, at: Position): string | undefined {
  if (at.feed !== undefined && at.feed !== feed)
    return `is of another list of events; this one is ${feed}, and its oldest kept number is ${oldestSeq}`
  if (at.seq > lastSeq) return `is ahead of the list, whose last number is ${lastSeq}`
  return at.seq < oldestSeq - 1 ? `is before the oldest kept number, which is ${oldestSeq}` : undefined
}
