import type { Executor } from '#shared/db/database.ts'
import type { Config } from '#shared/kernel/config.ts'
import type { ProviderName } from '#shared/payments/connection.ts'
import type { Link } from '#shared/payments/link.ts'
import type { LinkFacts, News } from '#shared/payments/providers/facts.ts'
import type { UnitTable } from '#shared/payments/providers/units.ts'

/** Credentials by name. They leave this process for their provider alone, and no message, log or answer holds one. */
export type Credentials = Readonly<Record<string, string>>

/** An account at a provider, ready to be called. */
export interface Account {
  readonly workspaceId: string
  readonly connectionId: string
  readonly mode: 'live' | 'test'
  readonly credentials: Credentials
  readonly config: Config
  /** For the sandbox, whose provider is this database. */
  readonly db: Executor
  readonly now: () => Date
}

/** A link as its provider has made it. */
export interface MadeLink {
  readonly providerLinkId: string
  readonly shortUrl: string
}

/** A webhook's request: its bytes as they came, and its headers. */
export interface Delivery {
  readonly bytes: Buffer
  readonly header: (name: string) => string
}

/**
 * A payment provider: one file each. Calls throw VALIDATION_ERROR with the provider's words when it refuses, and any other error when it
 * does not answer, or not sensibly; both may be tried again. None is called while a transaction is open.
 */
export interface Provider {
  readonly name: ProviderName
  /** The credentials that a workspace gives. */
  readonly credentialNames: readonly string[]
  /** Credentials that Kontor makes itself. */
  readonly ownCredentials?: () => Credentials
  readonly units: UnitTable
  /** Throws VALIDATION_ERROR naming `expires_at` when the provider takes no link that ends then. */
  readonly checkExpiry?: (expiresAt: Date, now: Date) => void
  /** Makes the link; called again for the same link it gives the first. */
  readonly create: (account: Account, link: Link) => Promise<MadeLink>
  /** The link that a call may have made whose answer nobody heard. */
  readonly find: (account: Account, link: Link) => Promise<MadeLink | undefined>
  /** What has become of a link and of all that was paid on it. */
  readonly look: (account: Account, link: Link & { readonly provider_link_id: string }) => Promise<LinkFacts>
  /** Sees to it that nobody can begin to pay, or go on where a page is open. */
  readonly end: (account: Account, link: Link & { readonly provider_link_id: string }) => Promise<void>
  /** Throws VALIDATION_ERROR when the provider does not take the credentials. */
  readonly check: (account: Account) => Promise<void>
  /** How much earlier the next sweep begins, in milliseconds: what a provider lists by its beginning may have ended later. */
  readonly overlapMs: number
  /** What happened since then, in pages and in no order; the caller asks with overlap. */
  readonly since: (account: Account, since: Date) => AsyncIterable<readonly SweptNews[]>
  /** Whether the id of an event is signed with it. */
  readonly signsEventId: boolean
  /** What a webhook tells; undefined when its signature is not the provider's, or too old. */
  readonly verify: (account: Account, delivery: Delivery) => News | undefined
  /** What the bytes of a verified delivery, or of a swept event, tell. */
  readonly read: (bytes: Buffer) => LinkFacts
}

/** Something that a provider lists among what happened, with the bytes from which it is read again. */
export interface SweptNews extends News {
  readonly bytes: Buffer
}
