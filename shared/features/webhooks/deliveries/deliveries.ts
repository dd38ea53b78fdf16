import type { EventFamily } from '#shared/core/events/event-type.ts'
import { expandType } from '#shared/core/events/type-names.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import {
  findDeliveries,
  findDelivery,
  insertTest,
  makeDue,
  recoverDeliveries,
  resendDelivery,
} from '#shared/features/webhooks/deliveries/store.ts'
import type { DeliveryQuery, DeliveryView } from '#shared/features/webhooks/schemas.ts'
import { lockWebhook, type WebhookRow } from '#shared/features/webhooks/store.ts'
import { getWebhook } from '#shared/features/webhooks/webhooks.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { type LinkedPage, listById } from '#shared/platform/db/lists.ts'
import { findFeed } from '#shared/platform/events/feed-store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** A page of a webhook's deliveries of the last 30 days, newest first. Throws NOT_FOUND, and VALIDATION_ERROR for a damaged cursor. */
export async function listDeliveries(scope: Scope, webhookId: string, query: DeliveryQuery): Promise<LinkedPage<DeliveryView>> {
  const { id } = await getWebhook(scope, webhookId)
  const { page, next } = await listById(scope, query, (beforeId, limit) =>
    findDeliveries({ workspaceId: scope.workspace.id, webhookId: id, status: query.status, beforeId, limit }),
  )
  return { items: page, next }
}

/** Lets a delivery be sent again. Throws NOT_FOUND, and VALIDATION_ERROR for a webhook that is off and an event that is no longer kept. */
export const resend = (scope: Scope, webhookId: string, id: string): Promise<DeliveryView> =>
  whileOn(scope, webhookId, async ({ db, workspace, now }) => {
    if (!isUuid(id)) throw problem('NOT_FOUND')
    const where = { workspaceId: workspace.id, webhookId, id }
    requireRow(await db.query(findDelivery(where)))
    const [delivery] = await db.query(resendDelivery({ ...where, now: now() }))
    if (!delivery) throw problem('VALIDATION_ERROR', 'The event of this delivery is no longer kept')
    return delivery
  })

/**
 * Lets all failed deliveries of events above a number be sent again, and returns how many. Throws NOT_FOUND, and VALIDATION_ERROR for a
 * webhook that is off and for a number below what is kept or ahead of the list.
 */
export const recover = (scope: Scope, webhookId: string, sinceSeq: number): Promise<{ count: number }> =>
  whileOn(scope, webhookId, async ({ db, workspace, now }) => {
    const feed = requireRow(await db.query(findFeed({ workspaceId: workspace.id })))
    if (sinceSeq > feed.lastSeq) throw problem('VALIDATION_ERROR', `since_seq is ahead of the list, whose last number is ${feed.lastSeq}`)
    if (sinceSeq < feed.oldestSeq - 1)
      throw problem('VALIDATION_ERROR', `since_seq is before the oldest kept number, which is ${feed.oldestSeq}`)
    return requireRow(await db.query(recoverDeliveries({ workspaceId: workspace.id, webhookId, sinceSeq, now: now() })))
  })

/** Sends an example of the first type of a webhook. Throws NOT_FOUND, and VALIDATION_ERROR for a webhook that is off. */
export const sendTest = (scope: Scope, families: readonly EventFamily[], webhookId: string): Promise<DeliveryView> =>
  whileOn(scope, webhookId, async ({ db, workspace, now }, { types }) => {
    const type = types.flatMap((name) => expandType(families, name))[0]
    if (type === undefined) throw problem('VALIDATION_ERROR', `types: there is no type ${JSON.stringify(types[0])} any more`)
    return requireRow(await db.query(insertTest({ workspaceId: workspace.id, webhookId, eventId: newId(), type, now: now() })))
  })

/** Runs work that makes deliveries of a webhook due, with the webhook locked, so that it stays on until the work has committed. */
async function whileOn<T>(scope: Scope, id: string, work: (scope: Scope, webhook: WebhookRow) => Promise<T>): Promise<T> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const workspaceId = scope.workspace.id
  return scope.db.transaction(async (tx) => {
    const webhook = await firstRow(tx, lockWebhook({ workspaceId, id }))
    if (!webhook) throw problem('NOT_FOUND')
    if (!webhook.enabled) throw problem('VALIDATION_ERROR', 'The webhook is disabled: send enabled true first')
    const done = await work(within(scope, tx), webhook)
    await tx.query(makeDue({ workspaceId, id, now: scope.now() }))
    return done
  })
}
