/** A part of a stream of server-sent events: an event, or what the client should wait before it connects again. */
export interface StreamPart {
  /** The position to connect again with, as `Last-Event-ID`. */
  readonly id?: string
  readonly event?: string
  readonly data?: string
  /** Milliseconds. */
  readonly retry?: string
}

/**
 * Creates a reader of the server-sent events that Kontor sends, with a line for each field. Its function takes the text as it comes, in pieces of
 * any length, and returns the parts that are complete; one that was not sent to its end does not count.
 */
export function eventReader(): (piece: string) => readonly StreamPart[] {
  let open = ''
  return (piece) => {
    const blocks = (open + piece).split('\n\n')
    open = blocks.pop() ?? ''
    return blocks.map(parsePart)
  }
}

const parsePart = (block: string): StreamPart =>
  Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
