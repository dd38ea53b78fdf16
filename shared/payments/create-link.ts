import { setDue } from '#shared/due/due.ts'
import { Problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'
import { openConnection, requireConnection } from '#shared/payments/account.ts'
import { platformOrigin } from '#shared/payments/connections.ts'
import { expiryDue } from '#shared/payments/due.ts'
import { expireLink, handleEvent } from '#shared/payments/jobs.ts'
import { type Link, type LinkInput, type LinkRequest, type LinkView, readLinkInput, viewLink } from '#shared/payments/link.ts'
import { checkLink } from '#shared/payments/new-link.ts'
import { NoAnswer } from '#shared/payments/providers/call.ts'
import type { MadeLink } from '#shared/payments/providers/provider.ts'
import { findEarlyEvents } from '#shared/payments/store/events-store.ts'
import { deleteUnmadeLink, findLinkByKey, insertLink, noteMadeLink } from '#shared/payments/store/links-store.ts'
import { type Source, writeLine } from '#shared/payments/timeline.ts'
import { type Scope, within } from '#shared/scope/scope.ts'

/**
 * Makes a payment link at its provider, as the caller. The same natural key gives the same link, made once, however often it is asked for:
 * also where a provider did not answer the first time. It calls the provider, so it must not stand in a transaction. Throws
 * VALIDATION_ERROR naming what is wrong or with the provider's words, NOT_FOUND for an unknown connection, and NoAnswer.
 */
export const createPaymentLink = (scope: Scope, input: LinkInput, { naturalKey = newId() } = {}): Promise<LinkView> =>
  createRequestedLink(scope, readLinkInput(input), naturalKey)

/** The same of a request whose amount has been read. With `keptForMs` the key stands for another link once the first is so old. */
export async function createRequestedLink(
  scope: Scope,
  request: LinkRequest,
  naturalKey: string,
  keptForMs = Number.POSITIVE_INFINITY,
): Promise<LinkView> {
  if ('inTransaction' in scope.db) throw new Error('A payment link is made at its provider, which no transaction may wait for')
  const { link, isNew } = await beginLink(scope, request, await presentKey(scope, naturalKey, keptForMs))
  if (link.provider_link_id !== null) return viewLink(link)
  try {
    return viewLink(await issueLink(scope, link, 'person', { isNew }))
  } catch (error) {
    // It was never made, so nothing of it stays. Of one that was begun before nobody knows.
    if (isNew && error instanceof Problem && error.status < 500) await scope.db.query(deleteUnmadeLink(scope.workspace.id, link.id))
    throw error
  }
}

/** A key that nobody used, or that was used lately: the one given, or one made of it and of the last link that it stood for. */
async function presentKey({ db, workspace, now }: Scope, naturalKey: string, keptForMs: number): Promise<string> {
  for (let key = naturalKey; ; ) {
    const [known] = await db.query<Link>(findLinkByKey(workspace.id, key))
    if (!known || now().getTime() - Date.parse(known.created_at) < keptForMs) return key
    key = `${naturalKey} after ${known.id}`
  }
}

/** The link's row, which is there before its provider hears of it: of this request, or of the same one before. */
async function beginLink(
  scope: Scope,
  request: LinkRequest,
  naturalKey: string,
): Promise<{ readonly link: Link; readonly isNew: boolean }> {
  const { db, workspace, actor, now } = scope
  const [known] = await db.query<Link>(findLinkByKey(workspace.id, naturalKey))
  if (known) return { link: known, isNew: false }
  const made = await checkLink(scope, request)
  const values = [made.connectionId, made.provider, made.amount, made.currency, made.description, made.invoiceId, made.redirectUrl]
  const payer = [made.customerName, made.customerEmail, made.customerContact]
  return db.transaction(async (tx) => {
    const id = newId()
    const statement = insertLink(workspace.id, id, ...values, ...payer, made.expiresAt, now(), actor.id, naturalKey)
    const [link] = await tx.query<Link>(statement)
    if (!link) return { link: (await tx.query<Link>(findLinkByKey(workspace.id, naturalKey)))[0] as Link, isNew: false }
    await setDue(tx, expiryDue, workspace.id, [{ subject: id, at: made.expiresAt }])
    return { link, isNew: true }
  })
}

/**
 * Has a link made at its provider, or finds the one that an earlier call made, and notes its address. Events that named the link before it
 * was known are acted on then. One that has ended meanwhile is not made any more. Throws what the provider throws.
 */
export async function issueLink(scope: Scope, link: Link, source: Source, { isNew }: { readonly isNew: boolean }): Promise<Link> {
  const { provider, account } = openConnection(scope, await requireConnection(scope, link.connection_id))
  try {
    const found = isNew ? undefined : await provider.find(account, link)
    const made = found ?? (link.status === 'created' ? await provider.create(account, link) : undefined)
    return made ? await noteMade(scope, link, made, source) : link
  } catch (error) {
    if (error instanceof NoAnswer)
      await writeLine(scope, { linkId: link.id, source, before: null, after: link.status, verdict: 'no_answer' })
    throw error
  }
}

/** Notes what a provider has made of a link; whoever comes second finds it noted. What has ended here in the meantime is ended there too. */
export function noteMade(scope: Scope, link: Link, made: MadeLink, source: Source): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const [noted] = await tx.query<Link>(noteMadeLink(scope.workspace.id, link.id, made.providerLinkId, made.shortUrl))
    if (!noted) return { ...link, provider_link_id: made.providerLinkId, short_url: made.shortUrl }
    await writeLine(within(scope, tx), { linkId: link.id, source, before: null, after: noted.status, verdict: 'created' })
    const early = await tx.query<{ event_key: string }>(findEarlyEvents(scope.workspace.id, link.connection_id, made.providerLinkId))
    for (const { event_key } of early) {
      await scope.queue.enqueue(tx, handleEvent, platformOrigin(scope), { connectionId: link.connection_id, eventKey: event_key })
    }
    if (noted.status === 'cancelled' || noted.status === 'expired')
      await scope.queue.enqueue(tx, expireLink, platformOrigin(scope), { linkId: link.id })
    return noted
  })
}
