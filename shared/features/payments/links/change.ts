import { systemActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { findConnection, openConnection } from '#shared/features/payments/connections/open.ts'
import { expiryDue } from '#shared/features/payments/due.ts'
import { applyEnd, applyFacts } from '#shared/features/payments/events/apply.ts'
import { issueLink, saveProviderLink } from '#shared/features/payments/links/create.ts'
import { getLink, viewLink } from '#shared/features/payments/links/find.ts'
import type { LinkView } from '#shared/features/payments/links/schemas.ts'
import { type Link, lockLink } from '#shared/features/payments/links/store.ts'
import { appendTimeline, type TimelineSource } from '#shared/features/payments/links/timeline.ts'
import type { LinkFacts } from '#shared/features/payments/providers/facts.ts'
import { removeDue } from '#shared/platform/due/due-times.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { Problem, problem, requireRow } from '#shared/platform/kernel/errors.ts'

/**
 * The same scope with the platform as actor: payments are recorded independently of the caller's rights, and not as the caller's action.
 */
export const platformScope = (scope: Scope): Scope => ({
  ...scope,
  actor: systemActor,
  principal: null,
  cause: { ...scope.cause, actorId: null, actorType: 'system' },
})

/**
 * Polls the provider for a link's state and applies it; safe to repeat. A link whose creation was never answered is found at the provider
 * or created now. Throws NOT_FOUND, VALIDATION_ERROR with the provider's message, and ProviderUnavailable.
 */
export async function refreshPaymentLink(scope: Scope, linkId: string): Promise<LinkView> {
  const platform = platformScope(scope)
  const link = await getLink(scope, linkId)
  if (link.status === 'created' && link.provider_link_id === null) await issueLink(platform, link, 'refresh', { isNew: false })
  return viewLink(await pollLink(platform, linkId, 'refresh'))
}

/**
 * Cancels an unpaid link: first at its provider, including the pages that payers have open. Repeating it changes nothing. Throws NOT_FOUND;
 * VALIDATION_ERROR for a link that is paid (also during the call) or expired, and with the provider's message; ProviderUnavailable.
 */
export async function cancelPaymentLink(scope: Scope, linkId: string): Promise<LinkView> {
  const link = await endLink(platformScope(scope), linkId, 'cancelled', { source: 'person', cause: scope.cause })
  if (link.status !== 'cancelled') throw problem('VALIDATION_ERROR', `The link cannot be cancelled: it is ${link.status}`)
  return viewLink(link)
}

/**
 * Expires an overdue link unless it was paid, and ends at its provider a link that had ended here before the provider created it. When the
 * provider fails, the link still ends here and the error is thrown.
 */
export async function expirePaymentLink(scope: Scope, linkId: string): Promise<void> {
  const link = await getLink(scope, linkId)
  if (link.status === 'created' && Date.parse(link.expires_at) > scope.now().getTime()) return
  const reason = { source: 'sweep', cause: systemCause(scope) } as const
  await endLink(scope, linkId, 'expired', reason).catch(async (error: unknown) => {
    await endHere(scope, linkId, 'expired', reason)
    throw error
  })
}

/** Cancels a link whose connection was deleted, also when the provider refuses the call, such as for revoked credentials. */
export async function abandonLink(scope: Scope, linkId: string): Promise<void> {
  const reason = { source: 'person', cause: systemCause(scope) } as const
  await endLink(scope, linkId, 'cancelled', reason).catch(async (error: unknown) => {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    await endHere(scope, linkId, 'cancelled', reason)
  })
}

/** The cause of an end that no caller and no provider made. */
const systemCause = ({ cause }: Scope): Cause => ({ ...cause, kind: 'system', id: null })

/** Why a link ends: what the timeline names, and the cause of the event. */
interface EndReason {
  readonly source: TimelineSource
  readonly cause: Cause
}

/** Ends an open link at its provider, applies a payment made in the meantime, and only then ends it here. The scope is the platform's. */
async function endLink(scope: Scope, linkId: string, ended: 'cancelled' | 'expired', reason: EndReason): Promise<Link> {
  const { source } = reason
  const link = await getLink(scope, linkId)
  // A link that ended here while its provider did not answer must still be ended at the provider.
  if (link.status === 'paid' || (link.status !== 'created' && source === 'person')) return link
  const linkAtProvider = await findProviderLink(scope, link, source)
  if (linkAtProvider) {
    const { provider, account } = await openConnectionOf(scope, link)
    await provider.endLink(account, linkAtProvider)
    // The provider reports the end that this call caused; `ended` is cleared so the timeline names our reason.
    await applyInTransaction(scope, link, source, { ...(await provider.pollLink(account, linkAtProvider)), ended: null })
  }
  return endHere(scope, linkId, ended, reason)
}

/** The link with its provider's id, looked up where a call was not answered; undefined when the provider never created it. */
async function findProviderLink(
  scope: Scope,
  link: Link,
  source: TimelineSource,
): Promise<(Link & { readonly provider_link_id: string }) | undefined> {
  if (hasProviderId(link)) return link
  const { provider, account } = await openConnectionOf(scope, link)
  const found = await provider.findLink(account, link)
  const linkAtProvider = found && (await saveProviderLink(scope, link, found, source))
  return linkAtProvider && hasProviderId(linkAtProvider) ? linkAtProvider : undefined
}

const hasProviderId = (link: Link): link is Link & { readonly provider_link_id: string } => link.provider_link_id !== null

function endHere(scope: Scope, linkId: string, ended: 'cancelled' | 'expired', { source, cause }: EndReason): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const link = requireRow(await tx.query(lockLink({ workspaceId: scope.workspace.id, id: linkId })))
    await removeDue(tx, expiryDue, scope.workspace.id, [linkId])
    return applyEnd(within(scope, tx), { connectionId: link.connection_id, source }, link, ended, cause)
  })
}

/** Polls a link at its provider and applies its facts. A refresh without news also appends a timeline entry. */
async function pollLink(scope: Scope, linkId: string, source: TimelineSource): Promise<Link> {
  const link = await getLink(scope, linkId)
  const linkAtProvider = await findProviderLink(scope, link, source)
  if (!linkAtProvider) return link
  const { provider, account } = await openConnectionOf(scope, link)
  return applyInTransaction(scope, link, source, await provider.pollLink(account, linkAtProvider))
}

/** Applies facts in a new transaction. */
function applyInTransaction(
  scope: Scope,
  { id, connection_id: connectionId }: Link,
  source: TimelineSource,
  facts: LinkFacts,
): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const [before] = await tx.query(lockLink({ workspaceId: scope.workspace.id, id }))
    const after = (await applyFacts(inside, { connectionId, source }, { ...facts, linkId: id })) ?? before
    if (!before || !after) throw problem('NOT_FOUND')
    if (source === 'refresh' && after.status === before.status) {
      await appendTimeline(inside, { linkId: id, source, before: before.status, after: after.status, verdict: 'unchanged' })
    }
    return after
  })
}

async function openConnectionOf(scope: Scope, link: Link) {
  const connection = await findConnection(scope, link.connection_id)
  if (!connection?.credentials) throw problem('VALIDATION_ERROR', 'The connection of this link was deleted')
  return openConnection(scope, connection)
}
