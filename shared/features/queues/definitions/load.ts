import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findQueue, findQueueByKey } from '#shared/features/queues/definitions/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** What looks a queue up. */
type Reader = Pick<Scope, 'db' | 'cache'> & { readonly workspace: { readonly id: string } }

/**
 * One queue's definition, remembered until a queue of the workspace changes. Throws VALIDATION_ERROR for an id that is none (decisions,
 * Malformed id in a path) and NOT_FOUND.
 */
export async function requireQueue({ db, cache, workspace }: Reader, id: string): Promise<Queue> {
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'queueId must be the id of a queue')
  const known = await cache.remember(db, workspace.id, `queue ${id.toLowerCase()}`, async () => {
    const [found] = await db.query<Queue>(findQueue(workspace.id, id))
    return found
  })
  return present(known)
}

/** The same by the queue's key. */
export async function requireQueueByKey({ db, cache, workspace }: Reader, key: string): Promise<Queue> {
  const known = await cache.remember(db, workspace.id, `queue by key ${key}`, async () => {
    const [found] = await db.query<Queue>(findQueueByKey(workspace.id, key))
    return found
  })
  return present(known)
}

function present(queue: Queue | undefined): Queue {
  if (!queue) throw problem('NOT_FOUND')
  return queue
}

/** Throws VALIDATION_ERROR when the queue is switched off: it can be read, changed and deleted, and its items rest (decisions, Work queues). */
export function requireEnabled({ enabled, key }: Queue): void {
  if (!enabled) throw problem('VALIDATION_ERROR', `The queue ${key} is not enabled`)
}

/** The id of an item that a path names; throws VALIDATION_ERROR for what is none. */
export function requireItemId(id: string): string {
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'itemId must be the id of an item')
  return id
}

/** A payload as it is stored; throws VALIDATION_ERROR naming `path` when that has more bytes than a payload may have. */
export function serializePayload(payload: unknown, path: string): string {
  const text = JSON.stringify(payload ?? {})
  const bytes = Buffer.byteLength(text)
  const limit = queueLimits.payloadBytes
  if (bytes > limit) throw problem('VALIDATION_ERROR', `${path} must have at most ${limit} bytes as JSON, got ${bytes}`)
  return text
}
