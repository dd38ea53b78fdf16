import { type Scope, within } from '#shared/core/scope/scope.ts'
import { platformOrigin } from '#shared/features/payments/connections/connections.ts'
import { openConnection, requireConnection } from '#shared/features/payments/connections/open.ts'
import { expiryDue } from '#shared/features/payments/due.ts'
import { findEarlyEvents } from '#shared/features/payments/events/store.ts'
import { expireLinkJob, handleEventJob } from '#shared/features/payments/jobs.ts'
import { viewLink } from '#shared/features/payments/links/find.ts'
import { checkLinkRequest } from '#shared/features/payments/links/new-link.ts'
import { type LinkInput, type LinkRequest, type LinkView, readLinkInput } from '#shared/features/payments/links/schemas.ts'
import { deleteUnmadeLink, findLinkByKey, insertLink, type Link, setProviderLink } from '#shared/features/payments/links/store.ts'
import { appendTimeline, type TimelineSource } from '#shared/features/payments/links/timeline.ts'
import { ProviderUnavailable } from '#shared/features/payments/providers/call.ts'
import type { ProviderLink } from '#shared/features/payments/providers/provider.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/**
 * Creates a payment link at its provider, as the caller. The same deduplication key returns the same link, also when the provider did not
 * answer the first call. Must not run in a transaction, since it calls the provider. Throws VALIDATION_ERROR naming the field or with the
 * provider's message, NOT_FOUND for an unknown connection, and ProviderUnavailable.
 */
export const createPaymentLink = (scope: Scope, input: LinkInput, deduplicationKey: string): Promise<LinkView> =>
  createRequestedLink(scope, readLinkInput(input), deduplicationKey)

/** Creates a link from a parsed request. Once the first link is older than `keyLifetimeMs`, the same key creates another link. */
export async function createRequestedLink(
  scope: Scope,
  request: LinkRequest,
  deduplicationKey: string,
  keyLifetimeMs = Number.POSITIVE_INFINITY,
): Promise<LinkView> {
  if ('inTransaction' in scope.db)
    throw new Error('A payment link must not be created inside a transaction: creating it calls the provider')
  const { key, link: known } = await findCurrentLink(scope, deduplicationKey, keyLifetimeMs)
  const { link, isNew } = known ? { link: known, isNew: false } : await insertLinkOnce(scope, request, key)
  if (link.provider_link_id !== null) return viewLink(link)
  try {
    return viewLink(await issueLink(scope, link, 'person', { isNew }))
  } catch (error) {
    // A refused new link was not created at the provider, so its row is deleted. A link of an earlier attempt may exist there.
    if (isNew && error instanceof Problem && error.status < 500)
      await scope.db.query(deleteUnmadeLink({ workspaceId: scope.workspace.id, id: link.id }))
    throw error
  }
}

/**
 * The link that the given key names now, and its key: the given key while it is unused or its link is younger than `keyLifetimeMs`, else one
 * derived from it and the id of its last link.
 */
async function findCurrentLink(
  { db, workspace, now }: Scope,
  deduplicationKey: string,
  keyLifetimeMs: number,
): Promise<{ readonly key: string; readonly link: Link | undefined }> {
  for (let key = deduplicationKey; ; ) {
    const [link] = await db.query(findLinkByKey({ workspaceId: workspace.id, deduplicationKey: key }))
    if (!link || now().getTime() - Date.parse(link.created_at) < keyLifetimeMs) return { key, link }
    key = `${deduplicationKey} after ${link.id}`
  }
}

/** Inserts the link's row before its provider is called, or returns the row of a concurrent request with the same key. */
async function insertLinkOnce(
  scope: Scope,
  request: LinkRequest,
  deduplicationKey: string,
): Promise<{ readonly link: Link; readonly isNew: boolean }> {
  const { db, workspace, actor, now } = scope
  const checked = await checkLinkRequest(scope, request)
  return db.transaction(async (tx) => {
    const id = newId()
    const created = { workspaceId: workspace.id, id, createdAt: now(), createdBy: actor.id, deduplicationKey }
    const [link] = await tx.query(insertLink({ ...checked, ...created }))
    if (!link) {
      const [concurrent] = await tx.query(findLinkByKey({ workspaceId: workspace.id, deduplicationKey }))
      // No Problem, so that the job is retried and creates the link.
      if (!concurrent) throw new Error('The link of a concurrent request was refused by its provider and deleted')
      return { link: concurrent, isNew: false }
    }
    await setDue(tx, expiryDue, workspace.id, [{ subject: id, at: checked.expiresAt }])
    return { link, isNew: true }
  })
}

/**
 * Creates a link at its provider, or finds the one that an earlier call created, and saves its address. A link that has ended here is not
 * created. Throws the provider's errors.
 */
export async function issueLink(scope: Scope, link: Link, source: TimelineSource, { isNew }: { readonly isNew: boolean }): Promise<Link> {
  const { provider, account } = openConnection(scope, await requireConnection(scope, link.connection_id))
  try {
    const found = isNew ? undefined : await provider.findLink(account, link)
    const providerLink = found ?? (link.status === 'created' ? await provider.createLink(account, link) : undefined)
    return providerLink ? await saveProviderLink(scope, link, providerLink, source) : link
  } catch (error) {
    if (error instanceof ProviderUnavailable)
      await appendTimeline(scope, { linkId: link.id, source, before: null, after: link.status, verdict: 'no_answer' })
    throw error
  }
}

/**
 * Saves the provider's id and address of a link once; a second call changes nothing. Enqueues the events that named the link before its id
 * was known, and its end at the provider where it has ended here in the meantime.
 */
export function saveProviderLink(scope: Scope, link: Link, providerLink: ProviderLink, source: TimelineSource): Promise<Link> {
  return scope.db.transaction(async (tx) => {
    const [saved] = await tx.query(setProviderLink({ ...providerLink, workspaceId: scope.workspace.id, id: link.id }))
    if (!saved) return { ...link, provider_link_id: providerLink.providerLinkId, short_url: providerLink.shortUrl }
    await appendTimeline(within(scope, tx), { linkId: link.id, source, before: null, after: saved.status, verdict: 'created' })
    const { providerLinkId } = providerLink
    const earlyEvents = await tx.query(
      findEarlyEvents({ workspaceId: scope.workspace.id, connectionId: link.connection_id, providerLinkId }),
    )
    for (const { event_key } of earlyEvents) {
      await scope.jobQueue.enqueue(tx, handleEventJob, platformOrigin(scope), { connectionId: link.connection_id, eventKey: event_key })
    }
    if (saved.status === 'cancelled' || saved.status === 'expired')
      await scope.jobQueue.enqueue(tx, expireLinkJob, platformOrigin(scope), { linkId: link.id })
    return saved
  })
}
