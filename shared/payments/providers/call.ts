import { operatorDoor } from '#shared/egress/door.ts'
import { callHttp } from '#shared/egress/http.ts'
import { problem } from '#shared/kernel/errors.ts'
import type { Credentials } from '#shared/payments/providers/provider.ts'

/** How long one call may take, in milliseconds: two of them fit into the time that a caller waits. */
const timeoutMs = 20_000

/** A page of a hundred sessions with their payments has some 500 KB. */
const maxBytes = 8 * 1024 * 1024

/** A provider that did not answer, or answered that it cannot now: what was asked may have been done all the same. */
export class NoAnswer extends Error {}

interface ProviderCall {
  readonly provider: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly url: string
  readonly credentials: Credentials
  /** The words of a refusal, in what the provider answered. */
  readonly wordsOf: (body: unknown) => string | undefined
}

/** Statuses that pass with time: too many requests, another request of the same key under way, and faults of the provider. */
const passes = (status: number): boolean => status === 409 || status === 429 || status >= 500

/**
 * Calls a provider, whose address is the operator's word, and gives the JSON of its answer. Throws VALIDATION_ERROR with the provider's
 * words when it refuses, less whatever of the credentials they hold, and NoAnswer otherwise.
 */
export async function callProvider(call: ProviderCall): Promise<unknown> {
  const { provider, url, method, headers, body, credentials, wordsOf } = call
  const answer = await callHttp(operatorDoor(), { url, method, headers, body, timeoutMs, maxBytes }).catch((error: unknown) => {
    throw new NoAnswer(`${provider} did not answer: ${withoutSecrets(String((error as Error).message), credentials)}`)
  })
  const text = answer.body.toString('utf8')
  if (passes(answer.status)) throw new NoAnswer(`${provider} answered ${answer.status}`)
  const json = parsed(text)
  if (answer.status >= 400) {
    const words = withoutSecrets(wordsOf(json) ?? `status ${answer.status}`, credentials)
    throw problem('VALIDATION_ERROR', `${provider} refused: ${words.slice(0, 500)}`)
  }
  if (answer.status >= 300 || json === undefined) throw new NoAnswer(`${provider} answered ${answer.status} without JSON`)
  return json
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Text in which no credential stands, whatever a provider repeats. */
const withoutSecrets = (text: string, credentials: Credentials): string =>
  Object.values(credentials).reduce((rest, secret) => (secret === '' ? rest : rest.replaceAll(secret, '[redacted]')), text)
