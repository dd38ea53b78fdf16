/** A mail to one recipient. Names and subjects may contain any text; line breaks in them do not become headers. */
export interface Mail {
  /** Optional id of the caller's choice, such as its job's; the same id queues the mail once. */
  readonly id?: string
  /** The workspace that sends the mail; null for the platform's own mail. */
  readonly workspaceId: string | null
  /** Kind of the mail for metrics and searches, such as `invitation` or `booking`. */
  readonly kind: string
  /** An email address without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  /** Further headers, such as List-Unsubscribe. */
  readonly headers?: Readonly<Record<string, string>>
  /** An iCalendar object: an invitation, its answer or its cancellation. */
  readonly calendar?: { readonly method: 'REQUEST' | 'CANCEL' | 'REPLY' | 'PUBLISH'; readonly content: string }
}

/**
 * Statuses of a mail. `sending`: delivery to a server is in progress. `uncertain`: the server may or may not have it. `bounced`: the
 * mailbox does not exist. `skipped`: the recipient has unsubscribed.
 */
export const mailStatuses = ['queued', 'sending', 'sent', 'uncertain', 'failed', 'bounced', 'skipped'] as const
export type MailStatus = (typeof mailStatuses)[number]

/**
 * Kinds of mails without which people cannot get in: resets of passwords, invitations to a workspace. They are sent by a job of their own, which
 * cannot be paused.
 */
export const accountMailKinds = { reset: 'reset', invitation: 'invitation' } as const

/** The queue of the jobs that send the mails of the outbox, except those of accounts. */
export const mailQueue = 'mail.send'

/** Kind of mails that workspaces write. They are listed, their text is kept for 30 days, and unsubscribed recipients do not get them. */
export const messageKind = 'message'
