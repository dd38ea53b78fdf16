import type { EventFamily } from '#shared/core/events/event-type.ts'
import { withAccessLock } from '#shared/core/scope/access-lock.ts'
import { readActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { differs, filterKeysOf, readDefinition, requireDefinition } from '#shared/features/webhooks/definition.ts'
import type { WebhookChange, WebhookInput, WebhookView, WebhookWithSecret } from '#shared/features/webhooks/schemas.ts'
import { makeSecret } from '#shared/features/webhooks/signing.ts'
import {
  deleteWebhook,
  findWebhook,
  findWebhooks,
  insertWebhook,
  lockWebhook,
  replaceSecret,
  sealedSecrets,
  updateWebhook,
} from '#shared/features/webhooks/store.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** The webhooks of the workspace, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listWebhooks = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<WebhookView>> =>
  listByCreation<WebhookView, WebhookView>(scope, query, {
    find: (afterTime, afterId, limit) => findWebhooks({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    show: (rows) => rows,
  })

/** One webhook. Throws NOT_FOUND. */
export async function getWebhook({ db, workspace }: Scope, id: string): Promise<WebhookView> {
  return requireRow(isUuid(id) ? await db.query(findWebhook({ workspaceId: workspace.id, id })) : [])
}

/**
 * Creates a webhook of the caller, which sends what is numbered from now on. Its secret is returned only here. The access lock keeps a maker or
 * account from being removed before there is a webhook to switch off. Throws VALIDATION_ERROR for a part that does not fit and beyond 100
 * webhooks, FORBIDDEN like `requireDefinition`.
 */
export async function createWebhook(scope: Scope, families: readonly EventFamily[], input: WebhookInput): Promise<WebhookWithSecret> {
  const { config, workspace } = scope
  const definition = readDefinition(input)
  const [id, secret] = [newId(), makeSecret()]
  const sealed = sealedSecrets.seal(config, { workspace_id: workspace.id, id }, secret)
  return withAccessLock(scope, 'webhooks:manage', async (locked) => {
    await requireDefinition(locked, families, definition)
    const { description = '', enabled = true } = input
    const makerId = makerOf(locked.actor)
    const rows = await locked.db.query(
      insertWebhook({ ...rowOf(definition), workspaceId: workspace.id, id, description, enabled, makerId, secret: sealed }),
    )
    return { ...requireRow(rows), secret }
  })
}

/**
 * Changes the sent properties of a webhook. Who changes what decides which events go where becomes its maker, and is checked as on creation;
 * so does who switches on a webhook whose maker is gone. Throws NOT_FOUND, VALIDATION_ERROR and FORBIDDEN like `createWebhook`.
 */
export async function changeWebhook(
  scope: Scope,
  families: readonly EventFamily[],
  id: string,
  change: WebhookChange,
): Promise<WebhookView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  return withAccessLock(scope, 'webhooks:manage', async (locked) => {
    const { db, workspace, actor } = locked
    const stored = requireRow(await db.query(lockWebhook({ workspaceId: workspace.id, id })))
    const definition = readDefinition(change, stored)
    const { description = stored.description, enabled = stored.enabled } = change
    const isTaken = enabled && !stored.enabled && (await isLeft(locked, [stored.maker_id, stored.service_account_id]))
    const isOthers = isTaken || differs(definition, stored)
    if (isOthers) await requireDefinition(locked, families, definition)
    const makerId = isOthers ? makerOf(actor) : stored.maker_id
    return requireRow(await db.query(updateWebhook({ ...rowOf(definition), workspaceId: workspace.id, id, description, enabled, makerId })))
  })
}

/** Deletes a webhook with its deliveries. Throws NOT_FOUND. */
export async function removeWebhook({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteWebhook({ workspaceId: workspace.id, id })) : [])
}

/** Gives a webhook another secret, which is returned only here; for a day the one before it signs too. Throws NOT_FOUND. */
export async function rotateSecret({ db, workspace, config, now }: Scope, id: string): Promise<WebhookWithSecret> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const secret = makeSecret()
  const sealed = sealedSecrets.seal(config, { workspace_id: workspace.id, id: id.toLowerCase() }, secret)
  const previousUntil = new Date(now().getTime() + dayMs)
  const row = requireRow(await db.query(replaceSecret({ workspaceId: workspace.id, id, secret: sealed, previousUntil })))
  return { ...row, secret }
}

const rowOf = (definition: ReturnType<typeof readDefinition>) => ({
  url: definition.url,
  types: definition.types,
  objectType: definition.objectType,
  filter: definition.filter === null ? null : JSON.stringify(definition.filter),
  filterKeys: filterKeysOf(definition),
  serviceAccountId: definition.serviceAccountId,
})

/** The platform makes no webhooks. */
function makerOf({ id }: Scope['actor']): string {
  if (id === null) throw problem('FORBIDDEN', 'A webhook needs a maker, whose rights it has')
  return id
}

/** Whether one of these accounts is in the workspace no longer. */
async function isLeft({ db, workspace }: Scope, ids: readonly (string | null)[]): Promise<boolean> {
  for (const id of ids) if (id !== null && !(await readActor(db, workspace.id, id))) return true
  return false
}
