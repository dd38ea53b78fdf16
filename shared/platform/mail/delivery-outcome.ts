import { EgressFailure } from '#shared/platform/egress/failure.ts'

/**
 * A server's refusal of this client, not of a single mail. It refuses the credentials (`auth`), an encrypted connection (`tls`), the client
 * before a mail is named (`session`), or the sender (`policy`: 5.7.x in reply to MAIL FROM). All mail by this server waits until a setting
 * changes.
 */
export type RelayRefusal = 'auth' | 'tls' | 'session' | 'policy'

/**
 * Result of a delivery attempt. `later`: the server does not have the mail and a retry may succeed; `isAway` where no other mail would have
 * been taken either, because the server cannot be reached or refuses this client; `refusal` says how it does. `uncertain`: the connection broke after the whole mail was sent, so a retry may deliver a second copy.
 * `final`: no retry can succeed.
 */
export type DeliveryOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later'; readonly error: string; readonly isAway: boolean; readonly refusal?: RelayRefusal }
  | { readonly kind: 'uncertain'; readonly error: string }
  | { readonly kind: 'final'; readonly status: 'failed' | 'bounced'; readonly error: string }

/** Enhanced status codes for an unknown mailbox (RFC 3463; docs/contract/messages.md#delivery). */
const noMailbox = new Set(['5.1.1', '5.1.10', '5.2.1'])

/** Permanent failures before a server is called: an address or a message that cannot be sent. */
const permanentCodes = new Set(['EENVELOPE', 'EMESSAGE'])

/** nodemailer's codes for missing or refused credentials. */
const authCodes = new Set(['EAUTH', 'ENOAUTH', 'ECONFIG'])
/** Replies to any command that require other credentials or another mechanism (RFC 4954, section 6). */
const authReplies = new Set([530, 534, 535, 538])
/** Commands before a mail is named. */
const sessionCommands = new Set(['CONN', 'EHLO', 'HELO'])

/** The reply of a server that is going away, to any command (RFC 5321, section 3.8). */
const closingReply = 421

/**
 * Classifies a failed attempt. `isNamed` says whether the server was ready, so that the mail was named to it. `handedOver` says whether the
 * whole mail was sent before the failure: without a reply of the server it is then uncertain whether the mail arrived. A connection that
 * breaks in between may break because of this mail, so the server does not count as away.
 */
export function classifyFailure(error: unknown, isNamed: boolean, handedOver: boolean): DeliveryOutcome {
  const failure = (error ?? {}) as Failure
  const { responseCode = 0, response, code = '', message } = failure
  const words = String(response || message || code || 'The mail could not be handed over')
  const refusal = handedOver ? undefined : relayRefusal(failure)
  if (refusal) return { kind: 'later', error: words, isAway: true, refusal }
  if (responseCode >= 500) return { kind: 'final', status: isUnknownMailbox(words) ? 'bounced' : 'failed', error: words }
  if (responseCode >= 400) return { kind: 'later', error: words, isAway: !isNamed || responseCode === closingReply }
  if (handedOver) return { kind: 'uncertain', error: words }
  const isPermanent = (error instanceof EgressFailure && error.reason === 'refused') || permanentCodes.has(code)
  return isPermanent ? { kind: 'final', status: 'failed', error: words } : { kind: 'later', error: words, isAway: !isNamed }
}

/** The relay's refusal of its client, if the failure is one. A 4xx reply is temporary and no refusal, except to AUTH and STARTTLS. */
function relayRefusal({ responseCode = 0, response = '', code = '', command = '' }: Failure): RelayRefusal | undefined {
  if (authCodes.has(code) || command.startsWith('AUTH') || authReplies.has(responseCode)) return 'auth'
  if (code === 'ETLS') return 'tls'
  if (responseCode < 500) return undefined
  if (sessionCommands.has(command)) return 'session'
  return command === 'MAIL FROM' && enhancedStatus(response).startsWith('5.7.') ? 'policy' : undefined
}

interface Failure {
  readonly responseCode?: number
  readonly response?: string
  readonly code?: string
  /** The command that was answered; `CONN` for the greeting and the connection itself. */
  readonly command?: string
  readonly message?: string
}

const isUnknownMailbox = (reply: string): boolean => noMailbox.has(enhancedStatus(reply))

const enhancedStatus = (reply: string): string => /^5\d\d[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''
