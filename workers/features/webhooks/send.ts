import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { readRetryAfter } from '#shared/features/webhooks/deliveries/tries.ts'
import { type Message, postMessage } from '#shared/features/webhooks/post.ts'
import type { WebhookAttempt } from '#shared/features/webhooks/schemas.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/** The status by which a receiver says that it wants no more. */
const gone = 410

/** How a try ended. `retryAfter` is what the receiver asked for. */
export interface TryResult {
  readonly attempt: WebhookAttempt
  readonly ending: 'taken' | 'failed' | 'gone'
  readonly retryAfter: Date | undefined
}

/** Sends a message once. Undefined where nothing was sent because this installation calls nobody; throws the abort reason of the signal. */
export async function sendMessage(
  { egress, now }: Pick<PlatformScope, 'egress' | 'now'>,
  message: Message,
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
    const answer = await postMessage(egress.restricted, message, at, signal)
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
