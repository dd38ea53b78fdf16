import type { Scope } from '#shared/core/scope/scope.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { findQueue, findQueueByKey } from '#shared/features/queues/definitions/store.ts'
import { queueLimits } from '#shared/features/queues/limits.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Scope members that a queue look-up needs. */
type LookupScope = Pick<Scope, 'db' | 'cache'> & { readonly workspace: { readonly id: string } }

/**
 * One queue's definition, cached until a queue of the workspace changes. Throws VALIDATION_ERROR for a malformed id
 * (docs/contract/conventions.md#identifiers) and NOT_FOUND.
 */
export async function requireQueue({ db, cache, workspace }: LookupScope, id: string): Promise<Queue> {
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'queueId must be the id of a queue')
  const find = () => firstRow(db, findQueue({ workspaceId: workspace.id, id }))
  return requirePresent(await cache.remember(db, workspace.id, `queue ${id.toLowerCase()}`, find))
}

/** One queue's definition by its key, cached like `requireQueue`. Throws NOT_FOUND. */
export async function requireQueueByKey({ db, cache, workspace }: LookupScope, key: string): Promise<Queue> {
  const find = () => firstRow(db, findQueueByKey({ workspaceId: workspace.id, key }))
  return requirePresent(await cache.remember(db, workspace.id, `queue by key ${key}`, find))
}

function requirePresent(queue: Queue | undefined): Queue {
  if (!queue) throw problem('NOT_FOUND')
  return queue
}

/**
 * Throws VALIDATION_ERROR for a disabled queue: its definition can be changed and deleted, its items cannot
 * (docs/contract/queues.md#disabled-queues).
 */
export function requireEnabled({ enabled, key }: Queue): void {
  if (!enabled) throw problem('VALIDATION_ERROR', `The queue ${key} is not enabled`)
}

/** An item's id from a path; throws VALIDATION_ERROR for a malformed id. */
export function requireItemId(id: string): string {
  if (!isUuid(id)) throw problem('VALIDATION_ERROR', 'itemId must be the id of an item')
  return id
}

/** Serializes a payload for storage. Throws VALIDATION_ERROR naming `path` when it exceeds `queueLimits.payloadBytes`. */
export function serializePayload(payload: unknown, path: string): string {
  const text = JSON.stringify(payload ?? {})
  const bytes = Buffer.byteLength(text)
  const limit = queueLimits.payloadBytes
  if (bytes > limit) throw problem('VALIDATION_ERROR', `${path} must have at most ${limit} bytes as JSON, got ${bytes}`)
  return text
}
