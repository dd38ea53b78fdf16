/** A mail to one recipient. Names and subjects may hold any text: line breaks in them never become headers. */
export interface Mail {
  /** An id of the caller's own, such as its job's, so that doing the work again queues the mail once. */
  readonly id?: string
  /** The workspace that it is sent for; null for mail of the platform itself. */
  readonly workspaceId: string | null
  /** What the mail is about, in a word, for whoever counts or looks for it: `invitation`, `booking`. */
  readonly kind: string
  /** An address, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  /** Further headers, such as List-Unsubscribe. */
  readonly headers?: Readonly<Record<string, string>>
  /** An iCalendar object that calendars understand as an invitation, its answer or its end. */
  readonly calendar?: { readonly method: 'REQUEST' | 'CANCEL' | 'REPLY' | 'PUBLISH'; readonly content: string }
}

/**
 * What becomes of a mail. `sending` is one that is being handed to a server; `uncertain` one of which nobody knows whether the server has
 * it; `bounced` one whose mailbox there is not; `skipped` one to somebody who wants none.
 */
export const mailStatuses = ['queued', 'sending', 'sent', 'uncertain', 'failed', 'bounced', 'skipped'] as const
export type MailStatus = (typeof mailStatuses)[number]

/** The kind of mails that workspaces write themselves: they are read, kept for 30 days, and nobody gets them who does not want to. */
export const messageKind = 'message'
