import { EgressFailure } from '#shared/egress/failure.ts'

/**
 * What came of handing a mail over. `later`: the server has not got it and another try may succeed; `uncertain`: it had the whole of it
 * when the connection broke, so another try may be a second copy; `final`: it will never take it.
 */
export type Outcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later' | 'uncertain'; readonly error: string }
  | { readonly kind: 'final'; readonly status: 'failed' | 'bounced'; readonly error: string }

/** Replies that say that there is no such mailbox (RFC 3463; decisions, Forms, website content, messages). */
const noMailbox = new Set(['5.1.1', '5.1.10', '5.2.1'])

/** Failures before any server was asked that another try meets again: an address or a message that cannot be sent, no way to sign in. */
const hopeless = new Set(['EENVELOPE', 'EMESSAGE', 'EAUTH', 'ENOAUTH', 'ECONFIG'])

/** What a failed try means, and whether the server had the whole of the mail by then. A reply of the server always says what it means. */
export function outcomeOf(error: unknown, handedOver: boolean): Outcome {
  const { responseCode = 0, response, code = '', message } = (error ?? {}) as Failure
  const words = String(response || message || code || 'The mail could not be handed over')
  if (responseCode >= 500) return { kind: 'final', status: isUnknownMailbox(words) ? 'bounced' : 'failed', error: words }
  if (responseCode >= 400) return { kind: 'later', error: words }
  if (handedOver) return { kind: 'uncertain', error: words }
  const isHopeless = (error instanceof EgressFailure && error.reason === 'refused') || hopeless.has(code)
  return isHopeless ? { kind: 'final', status: 'failed', error: words } : { kind: 'later', error: words }
}

interface Failure {
  readonly responseCode?: number
  readonly response?: string
  readonly code?: string
  readonly message?: string
}

const isUnknownMailbox = (reply: string): boolean => noMailbox.has(/^5\d\d[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? '')
