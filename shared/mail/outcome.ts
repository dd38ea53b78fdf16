import { EgressFailure } from '#shared/egress/failure.ts'

/**
 * What a server refuses that concerns its client and no single mail: `auth` the credentials, `tls` an encrypted connection, `session` the
 * client before it names a mail, `policy` the sender (5.7.x in reply to MAIL FROM). All mail waits until somebody changes a setting.
 */
export type RelayRefusal = 'auth' | 'tls' | 'session' | 'policy'

/**
 * What came of handing a mail over. `later`: the server has not got it and another try may succeed, with `refusal` where the server refuses
 * all mail of this client; `uncertain`: it had the whole of it when the connection broke, so another try may be a second copy; `final`: it
 * will never take it.
 */
export type Outcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'later'; readonly error: string; readonly refusal?: RelayRefusal }
  | { readonly kind: 'uncertain'; readonly error: string }
  | { readonly kind: 'final'; readonly status: 'failed' | 'bounced'; readonly error: string }

/** Replies that say that there is no such mailbox (RFC 3463; decisions, Forms, website content, messages). */
const noMailbox = new Set(['5.1.1', '5.1.10', '5.2.1'])

/** Failures before any server was asked that another try meets again: an address or a message that cannot be sent. */
const hopeless = new Set(['EENVELOPE', 'EMESSAGE'])

/** Codes of nodemailer for credentials that are missing or were refused. */
const authCodes = new Set(['EAUTH', 'ENOAUTH', 'ECONFIG'])
/** Replies to any command that ask for other credentials or another mechanism (RFC 4954, section 6). */
const authReplies = new Set([530, 534, 535, 538])
/** Commands before a mail is named. */
const sessionCommands = new Set(['CONN', 'EHLO', 'HELO'])

/** What a failed try means, and whether the server had the whole of the mail by then. A reply of the server always says what it means. */
export function outcomeOf(error: unknown, handedOver: boolean): Outcome {
  const failure = (error ?? {}) as Failure
  const { responseCode = 0, response, code = '', message } = failure
  const words = String(response || message || code || 'The mail could not be handed over')
  const refusal = handedOver ? undefined : relayRefusal(failure)
  if (refusal) return { kind: 'later', error: words, refusal }
  if (responseCode >= 500) return { kind: 'final', status: isUnknownMailbox(words) ? 'bounced' : 'failed', error: words }
  if (responseCode >= 400) return { kind: 'later', error: words }
  if (handedOver) return { kind: 'uncertain', error: words }
  const isHopeless = (error instanceof EgressFailure && error.reason === 'refused') || hopeless.has(code)
  return isHopeless ? { kind: 'final', status: 'failed', error: words } : { kind: 'later', error: words }
}

/** Whether a failure is the relay's refusal of its client. A 4xx reply is none, but to AUTH and STARTTLS: it passes by itself. */
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
