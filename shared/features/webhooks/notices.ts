import { notify } from '#shared/core/notifications/notify.ts'
import { findPermissionHolders } from '#shared/core/roles/permission-holders.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { parseEndpoint } from '#shared/platform/egress/endpoint.ts'

/** What people are told of a webhook, and the event of the inbox item. */
const notices = {
  failing: { event: 'webhook.failing', text: (host: string) => `A webhook to ${host} has been failing for a day` },
  ended: { event: 'webhook.disabled', text: (host: string) => `A webhook to ${host} was switched off: it has been failing for 5 days` },
  gone: { event: 'webhook.disabled', text: (host: string) => `A webhook to ${host} was switched off: its receiver wants no more` },
} as const

/** A webhook that people are told of; `since` tells one time from another. */
interface Subject {
  readonly workspaceId: string
  readonly id: string
  readonly url: string
  readonly since: string
}

/** Tells the holders of `webhooks:manage` once. Of the address they see the host alone: the rest may hold what others must not know. */
export async function informOfWebhook(db: Executor, what: keyof typeof notices, { workspaceId, id, url, since }: Subject): Promise<void> {
  const { event, text } = notices[what]
  const scope = { db, workspace: { id: workspaceId } }
  const title = text(parseEndpoint(url).host)
  await notify(scope, await findPermissionHolders(scope, 'webhooks:manage'), [
    { title, record: null, event, key: `webhook ${what} ${id} ${since}` },
  ])
}
