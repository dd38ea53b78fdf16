import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { readRetryAfter } from '#shared/features/webhooks/deliveries/tries.ts'
import type { WebhookAttempt } from '#shared/features/webhooks/schemas.ts'
import { signedHeaders } from '#shared/features/webhooks/signing.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { callHttp } from '#shared/platform/egress/http.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** Time in milliseconds for a whole try, and the bytes of an answer that are read. */
const [timeoutMs, maxAnswerBytes] = [15_000, 64 * 1_024]

/** The status by which a receiver says that it wants no more. */
const gone = 410

/** A message to a receiver. */
interface Message {
  readonly url: string
  /** `webhook-id`: the same in every try. */
  readonly id: string
  readonly body: string
  readonly secrets: readonly string[]
}

/** How a try ended. `retryAfter` is what the receiver asked for. */
export interface TryResult {
  readonly attempt: WebhookAttempt
  readonly ending: 'taken' | 'failed' | 'gone'
  readonly retryAfter: Date | undefined
}

/** Sends a message once. Undefined where nothing was sent because this installation calls nobody; throws the abort reason of the signal. */
export async function sendMessage(
  { egress, now }: Pick<PlatformScope, 'egress' | 'now'>,
  { url, id, body, secrets }: Message,
  signal: AbortSignal,
): Promise<TryResult | undefined> {
  const at = now()
  const began = performance.now()
  const end = (status: number | null, error: string | null) => ({
    at: toInstant(at),
    status,
    ms: Math.round(performance.now() - began),
    error,
  })
  try {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Kontor', ...signedHeaders({ id, body, at }, secrets) }
    const answer = await callHttp(egress.restricted, {
      url,
      method: 'POST',
      headers,
      body,
      timeoutMs,
      maxBytes: maxAnswerBytes,
      dropsBody: true,
      signal,
    })
    const isTaken = answer.status >= 200 && answer.status < 300
    return {
      attempt: end(answer.status, null),
      ending: isTaken ? 'taken' : answer.status === gone ? 'gone' : 'failed',
      retryAfter: readRetryAfter(answer.headers['retry-after'], now()),
    }
  } catch (error) {
    if (!(error instanceof EgressFailure)) throw error
    if (error.reason === 'held') return undefined
    return { attempt: end(null, error.message), ending: 'failed', retryAfter: undefined }
  }
}
