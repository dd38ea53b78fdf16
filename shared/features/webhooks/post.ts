import { signedHeaders } from '#shared/features/webhooks/signing.ts'
import type { Dialer } from '#shared/platform/egress/dialer.ts'
import { callHttp, type HttpAnswer } from '#shared/platform/egress/http.ts'

/** Time in milliseconds for a whole try, and the bytes of an answer that are read. */
const [timeoutMs, maxAnswerBytes] = [15_000, 64 * 1_024]

/** A message to a receiver. */
export interface Message {
  readonly url: string
  /** `webhook-id`: the same in every try. */
  readonly id: string
  readonly body: string
  readonly secrets: readonly string[]
}

/** Sends a message once, signed as of a time. Throws an EgressFailure, or the abort reason of the signal. */
export function postMessage(dialer: Dialer, { url, id, body, secrets }: Message, at: Date, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = { 'content-type': 'application/json', 'user-agent': 'Kontor', ...signedHeaders({ id, body, at }, secrets) }
  return callHttp(dialer, { url, method: 'POST', headers, body, timeoutMs, maxBytes: maxAnswerBytes, dropsBody: true, signal })
}
