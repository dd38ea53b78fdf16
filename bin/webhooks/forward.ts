import { randomUUID } from 'node:crypto'
import { postMessage } from '#shared/features/webhooks/post.ts'
import { operatorDialer } from '#shared/platform/egress/dialer.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'

/** How the sending of an event ended, as a value and as a line. Without an answer `status` is null and `error` says why. */
interface Forwarded {
  readonly value: {
    readonly seq: number
    readonly type: string
    readonly status: number | null
    readonly ms: number
    readonly error: string | null
  }
  readonly line: string
}

/** Sends an event, given as JSON, once. Throws the abort reason of its signal. */
export type Forwarder = (body: string) => Promise<Forwarded>

/** The receiver is an address of who runs the command, so any may be dialled. */
const dialer = operatorDialer()

/** Creates the way to a receiver, under an id in place of a webhook's. */
export function createForwarder(url: string, secret: string, signal: AbortSignal): Forwarder {
  const listenerId = randomUUID()
  return async (body) => {
    const { seq, id, type } = JSON.parse(body) as { seq: number; id: string; type: string }
    const began = performance.now()
    const end = (status: number | null, error: string | null): Forwarded => {
      const ms = Math.round(performance.now() - began)
      const line = [seq, type, status ?? 'failed', `${ms} ms`, ...(error === null ? [] : [error])].join('  ')
      return { value: { seq, type, status, ms, error }, line }
    }
    try {
      const message = { url, id: `${id}:${listenerId}`, body, secrets: [secret] }
      const { status } = await postMessage(dialer, message, new Date(), signal)
      return end(status, null)
    } catch (error) {
      if (!(error instanceof EgressFailure)) throw error
      return end(null, error.reason === 'unreachable' ? `${new URL(url).origin} cannot be reached: ${error.message}` : error.message)
    }
  }
}
