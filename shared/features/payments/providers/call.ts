import type { Credentials, ProviderAccount } from '#shared/features/payments/providers/provider.ts'
import { decodeJson } from '#shared/features/payments/providers/reading.ts'
import type { Egress } from '#shared/platform/egress/egress.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { callHttp } from '#shared/platform/egress/http.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'

/** Timeout of one call in milliseconds; two calls fit into the time that a caller waits. */
const timeoutMs = 20_000

/** Maximum size of an answer; a page of a hundred sessions with payments has about 500 KB. */
const maxBytes = 8 * 1024 * 1024

/** The provider did not answer or failed temporarily. The requested change may have been made. */
export class ProviderUnavailable extends Error {}

interface ProviderCall {
  readonly egress: Egress
  readonly provider: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly url: string
  readonly credentials: Credentials
  /** Reads the message of a refusal from the answer's JSON. */
  readonly readErrorMessage: (body: unknown) => string | undefined
}

/** Statuses worth a retry: another request with the same key in progress (409), too many requests (429) and server errors. */
const isTransient = (status: number): boolean => status === 409 || status === 429 || status >= 500

/**
 * Throws VALIDATION_ERROR when the prefix of a credential names another mode than the connection's. The first group of `prefix` is the mode.
 */
export function refuseOtherMode({ credentials, mode }: Pick<ProviderAccount, 'credentials' | 'mode'>, name: string, prefix: RegExp): void {
  const keyMode = prefix.exec(credentials[name] ?? '')?.[1]
  if (keyMode === undefined || keyMode === mode) return
  throw problem('VALIDATION_ERROR', `${name} is a ${keyMode} key, but the connection has mode ${mode}`)
}

/** A credential of a connection. Throws VALIDATION_ERROR when a change of the connection has removed it. */
export function requireCredential(credentials: Credentials, name: string): string {
  const value = credentials[name]
  if (value === undefined) throw problem('VALIDATION_ERROR', `the connection has no ${name}: send it in credentials`)
  return value
}

/**
 * Calls a provider, whose address the operator configures, and returns the JSON of its answer. Throws VALIDATION_ERROR with the provider's
 * message, credentials redacted, when the provider refuses, UNAVAILABLE while a restored copy calls nobody, and ProviderUnavailable for every
 * other failure.
 */
export async function callProvider(call: ProviderCall): Promise<unknown> {
  const { egress, provider, url, method, headers, body, credentials, readErrorMessage } = call
  const answer = await callHttp(egress.operators, { url, method, headers, body, timeoutMs, maxBytes }).catch((error: unknown) => {
    if (error instanceof EgressFailure && error.reason === 'held') throw problem('UNAVAILABLE', error.message, { cause: error })
    throw new ProviderUnavailable(`${provider} did not answer: ${withoutSecrets(String((error as Error).message), credentials)}`)
  })
  if (isTransient(answer.status)) throw new ProviderUnavailable(`${provider} answered ${answer.status}`)
  const json = decodeJson(answer.body)
  if (answer.status >= 400) {
    const message = withoutSecrets(readErrorMessage(json) ?? `status ${answer.status}`, credentials)
    throw problem('VALIDATION_ERROR', `${provider} refused: ${cutText(message, 500)}`)
  }
  if (answer.status >= 300 || json === undefined) throw new ProviderUnavailable(`${provider} answered ${answer.status} without JSON`)
  return json
}

/** Replaces every credential in a provider's text with [redacted]. */
function withoutSecrets(text: string, credentials: Credentials): string {
  // The longest first: one secret may begin with another. All in one pass, so that a secret such as `red` is not found in [redacted].
  const secrets = Object.values(credentials)
    .filter((secret) => secret !== '')
    .sort((one, other) => other.length - one.length)
  return secrets.length === 0 ? text : text.replace(new RegExp(secrets.map(RegExp.escape).join('|'), 'g'), '[redacted]')
}
