import { defineSdkMethod, defineSdkQuery, optionalArgument, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { claimItems } from '#shared/features/queues/claims/claim.ts'
import { requireQueueByKey } from '#shared/features/queues/definitions/load.ts'
import type { Queue } from '#shared/features/queues/definitions/schemas.ts'
import { addItems } from '#shared/features/queues/items/add.ts'
import { listItems } from '#shared/features/queues/items/list.ts'
import { moveItemForCaller } from '#shared/features/queues/items/move.ts'
import {
  claimInput,
  copiedItemList,
  itemsQuery,
  moveInput,
  moveOptions,
  newItems,
  scanInput,
} from '#shared/features/queues/items/schemas.ts'
import { judgeScan } from '#shared/features/queues/scans/scan.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const key = ['key', schema(t.String())] as const
const itemId = ['itemId', schema(t.String())] as const

/** The queue of an SDK call, after a check of the permission that the corresponding route requires. Throws NOT_FOUND and FORBIDDEN. */
async function requirePermittedQueue(scope: Scope, permission: Permission, queueKey: string): Promise<Queue> {
  const queue = await requireQueueByKey(scope, queueKey)
  requirePermission(scope, permission, queue.key)
  return queue
}

/** SDK methods of work queues. A queue is named by its key; the rights are those of the run's caller. */
export const queueMethods = restrictToApp('queues', [
  defineSdkMethod(
    'queues.enqueue',
    '(key: string, items: QueueItemInput[]): Promise<{ created: number; duplicates: number; items: { id: string | null; key: string; stage: string | null; status: string | null; duplicate: boolean }[] }>',
    [key, ['items', newItems, copiedItemList]],
    async ({ scope }, queueKey, items) =>
      addItems(scope, await requirePermittedQueue(scope, 'queues:enqueue', queueKey), items, { source: 'function' }),
  ),
  defineSdkMethod(
    'queues.claim',
    '(key: string, options?: { stage?: string; count?: number }): Promise<{ items: (QueueItem & { claim_token: string })[]; claimed: number }>',
    [key, ['options', optionalArgument(claimInput)]],
    async ({ scope }, queueKey, input) => claimItems(scope, await requirePermittedQueue(scope, 'queues:transition', queueKey), input),
  ),
  defineSdkMethod(
    'queues.move',
    '(key: string, itemId: string, toStage: string, options?: { status?: string; note?: string; claim_token?: string }): Promise<QueueItem & { previous_claim: { by: string; expires_at: string } | null }>',
    [key, itemId, ['toStage', schema(t.String())], ['options', optionalArgument(moveOptions)]],
    async ({ scope }, queueKey, id, toStage, input) => {
      const queue = await requirePermittedQueue(scope, 'queues:transition', queueKey)
      return moveItemForCaller(scope, queue, id, moveInput.parse({ ...input, to_stage: toStage }, 'options'))
    },
  ),
  defineSdkMethod(
    'queues.scan',
    '(key: string, options: { key: string; stage?: string; to_stage?: string; batch?: string; note?: string; payload?: object; claim_token?: string }): Promise<{ verdict: string; message: string; item: QueueItem | null; previous_claim: { by: string; expires_at: string } | null }>',
    [key, ['options', scanInput]],
    async ({ scope }, queueKey, input) => judgeScan(scope, await requirePermittedQueue(scope, 'queues:transition', queueKey), input),
  ),
  defineSdkQuery(
    'queues.items',
    '(key: string, query?: { stage?: string; status?: string; batch?: string; key?: string; q?: string; overdue?: boolean; assignee_id?: string; record_id?: string; limit?: number; offset?: number }): Promise<{ items: QueueItem[]; total: number; next_offset: number | null }>',
    [key, ['query', optionalArgument(itemsQuery)]],
    async ({ scope }, queueKey, input) => listItems(scope, await requirePermittedQueue(scope, 'queues:read', queueKey), input),
  ),
])
