import type { ProviderName } from '#shared/features/payments/connections/schemas.ts'
import type { Link } from '#shared/features/payments/links/store.ts'
import type { LinkFacts, ProviderEvent } from '#shared/features/payments/providers/facts.ts'
import type { UnitTable } from '#shared/features/payments/providers/units.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import type { Egress } from '#shared/platform/egress/egress.ts'
import type { Config } from '#shared/platform/kernel/config.ts'

/** Credentials by name. They are sent to their provider only and appear in no message, log or answer. */
export type Credentials = Readonly<Record<string, string>>

/** An account at a provider, with all that a call needs. */
export interface ProviderAccount {
  readonly workspaceId: string
  readonly connectionId: string
  readonly mode: 'live' | 'test'
  readonly credentials: Credentials
  readonly config: Config
  readonly egress: Egress
  /** Used by the sandbox, which stores its links and payments in this database. */
  readonly db: Executor
  readonly now: () => Date
}

/** A link that exists at its provider. */
export interface ProviderLink {
  readonly providerLinkId: string
  readonly shortUrl: string
}

/** A webhook request: its raw bytes and headers. */
export interface Delivery {
  readonly bytes: Buffer
  readonly header: (name: string) => string
}

/**
 * A payment provider; each has a file of its own. Calls throw VALIDATION_ERROR with the provider's message when it refuses, and another
 * error when it does not answer or the answer is unusable; a failed call may be repeated. Must not be called inside a transaction.
 */
export interface Provider {
  readonly name: ProviderName
  /** Names of the credentials that a workspace must give. */
  readonly credentialNames: readonly string[]
  /** The credential that names the account at the provider, where one does. */
  readonly accountName?: string
  /** Generates the credentials that Kontor creates itself. */
  readonly ownCredentials?: () => Credentials
  readonly units: UnitTable
  /** Throws VALIDATION_ERROR naming `expires_at` when the provider does not accept this expiry. */
  readonly checkExpiry?: (expiresAt: Date, now: Date) => void
  /** Creates the link; a repeated call for the same link returns the first one. */
  readonly createLink: (account: ProviderAccount, link: Link) => Promise<ProviderLink>
  /** Finds the link that an unanswered call may have created. */
  readonly findLink: (account: ProviderAccount, link: Link) => Promise<ProviderLink | undefined>
  /** Reads the current state of a link and all its payments. */
  readonly pollLink: (account: ProviderAccount, link: Link & { readonly provider_link_id: string }) => Promise<LinkFacts>
  /** Prevents new payments on the link, also on pay pages that are already open. */
  readonly endLink: (account: ProviderAccount, link: Link & { readonly provider_link_id: string }) => Promise<void>
  /** Throws VALIDATION_ERROR when the provider refuses the credentials. */
  readonly checkCredentials: (account: ProviderAccount) => Promise<void>
  /** Overlap of consecutive sweeps in milliseconds: a provider that lists by start time may complete an item later. */
  readonly overlapMs: number
  /** Lists events since an instant, in pages and in no particular order. The caller adds the overlap. */
  readonly listEventsSince: (account: ProviderAccount, since: Date) => AsyncIterable<readonly ListedProviderEvent[]>
  /** Whether the signature covers the event's id. */
  readonly signsEventId: boolean
  /** Reads the event of a webhook request; undefined when the signature is wrong or outside the time tolerance. */
  readonly verifyDelivery: (account: ProviderAccount, delivery: Delivery) => ProviderEvent | undefined
  /** Reads the facts in the bytes of a verified delivery or a listed event. */
  readonly readEvent: (bytes: Buffer) => LinkFacts
}

/** A listed event with the bytes that are stored and read again later. */
export interface ListedProviderEvent extends ProviderEvent {
  readonly bytes: Buffer
}
