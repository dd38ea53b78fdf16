import { dropDue } from '#shared/due/due.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { findConnection, openConnection } from '#shared/payments/account.ts'
import { applyEnd, applyFacts } from '#shared/payments/apply.ts'
import { issueLink, noteMade } from '#shared/payments/create-link.ts'
import { expiryDue } from '#shared/payments/due.ts'
import { type Link, type LinkView, viewLink } from '#shared/payments/link.ts'
import { getLink } from '#shared/payments/links.ts'
import type { LinkFacts } from '#shared/payments/providers/facts.ts'
import { lockLinkRow } from '#shared/payments/store/links-store.ts'
import { type Source, writeLine } from '#shared/payments/timeline.ts'
import { system } from '#shared/scope/actor.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/** The platform itself in the same workspace: money is written down whoever learned of it, and as nobody's doing. */
export const asPlatform = (scope: Scope): Scope => ({
  ...scope,
  actor: system,
  principal: null,
  cause: { ...scope.cause, actorId: null, actorType: 'system' },
})

/**
 * Asks the provider what has become of a link, and applies it; safe to repeat. A link whose provider never answered is found there, or made
 * now. Throws NOT_FOUND, VALIDATION_ERROR with the provider's words, NoAnswer.
 */
export async function refreshPaymentLink(scope: Scope, linkId: string): Promise<LinkView> {
  const platform = asPlatform(scope)
  const link = await getLink(scope, linkId)
  if (link.status === 'created' && link.provider_link_id === null) await issueLink(platform, link, 'refresh', { isNew: false })
  return viewLink(await lookAt(platform, linkId, 'refresh'))
}

/**
 * Cancels a link that is unpaid: at its provider first, with the pages that payers have open. Doing it again changes nothing. Throws
 * NOT_FOUND; VALIDATION_ERROR for one that is paid, maybe at this moment, or has expired; the provider's words; NoAnswer.
 */
export async function cancelPaymentLink(scope: Scope, linkId: string): Promise<LinkView> {
  const link = await endLink(asPlatform(scope), linkId, 'cancelled', 'person')
  if (link.status !== 'cancelled') throw problem('VALIDATION_ERROR', `The link cannot be cancelled: it is ${link.status}`)
  return viewLink(link)
}

/**
 * Ends a link whose time is up, unless it was paid, and at its provider one that has ended here before the provider had made it. Where the
 * provider does not answer it ends here all the same, and that is thrown.
 */
export async function expirePaymentLink(scope: Scope, linkId: string): Promise<void> {
  const link = await getLink(scope, linkId)
  if (link.status === 'created' && Date.parse(link.expires_at) > scope.now().getTime()) return
  await endLink(scope, linkId, 'expired', 'sweep').catch(async (error: unknown) => {
    await finish(scope, linkId, 'expired', 'sweep')
    throw error
  })
}

/** Cancels a link whose connection was deleted; a provider that does not take the credentials any more has nothing to say. */
export async function abandonLink(scope: Scope, linkId: string): Promise<void> {
  await endLink(scope, linkId, 'cancelled', 'person').catch(async (error: unknown) => {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    await finish(scope, linkId, 'cancelled', 'person')
  })
}

/** Ends an open link at its provider, learns whether it was paid meanwhile, and only then ends it here. The scope is the platform's. */
async function endLink(scope: Scope, linkId: string, ended: 'cancelled' | 'expired', source: Source): Promise<Link> {
  const link = await getLink(scope, linkId)
  // One that ended here while its provider did not answer has yet to end there.
  if (link.status === 'paid' || (link.status !== 'created' && source === 'person')) return link
  const made = await madeLink(scope, link, source)
  if (made) {
    const { provider, account } = await openOf(scope, link)
    await provider.end(account, made)
    // What the provider says of the end is our own doing.
    await apply(scope, link, source, { ...(await provider.look(account, made)), ended: null })
  }
  return finish(scope, linkId, ended, source)
}

/** The link with its provider's id: known, or found where a call was not answered; undefined where the provider never made it. */
async function madeLink(scope: Scope, link: Link, source: Source): Promise<(Link & { readonly provider_link_id: string }) | undefined> {
  if (isMade(link)) return link
  const { provider, account } = await openOf(scope, link)
  const found = await provider.find(account, link)
  const made = found && (await noteMade(scope, link, found, source))
  return made && isMade(made) ? made : undefined
}

const isMade = (link: Link): link is Link & { readonly provider_link_id: string } => link.provider_link_id !== null

function finish(scope: Scope, linkId: string, ended: 'cancelled' | 'expired', source: Source): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const [link] = await tx.query<Link>(lockLinkRow(scope.workspace.id, linkId))
    if (!link) throw problem('NOT_FOUND')
    await dropDue(tx, expiryDue, scope.workspace.id, [linkId])
    return applyEnd(within(scope, tx), { connectionId: link.connection_id, source }, link, ended)
  })
}

/** Looks at a link at its provider and applies what is found; of a refresh that finds nothing new its timeline tells as well. */
export async function lookAt(scope: Scope, linkId: string, source: Source): Promise<Link> {
  const link = await getLink(scope, linkId)
  const made = await madeLink(scope, link, source)
  if (!made) return link
  const { provider, account } = await openOf(scope, link)
  return apply(scope, link, source, await provider.look(account, made))
}

/** Applies facts in a transaction of their own. */
function apply(scope: Scope, { id, connection_id: connectionId }: Link, source: Source, facts: LinkFacts): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const [before] = await tx.query<Link>(lockLinkRow(scope.workspace.id, id))
    const after = (await applyFacts(inside, { connectionId, source }, { ...facts, linkId: id })) ?? before
    if (!before || !after) throw problem('NOT_FOUND')
    if (source === 'refresh' && after.status === before.status) {
      await writeLine(inside, { linkId: id, source, before: before.status, after: after.status, verdict: 'unchanged' })
    }
    return after
  })
}

async function openOf(scope: Scope, link: Link) {
  const connection = await findConnection(scope, link.connection_id)
  if (!connection?.credentials) throw problem('VALIDATION_ERROR', 'The connection of this link was deleted')
  return openConnection(scope, connection)
}
