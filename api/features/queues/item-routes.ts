import * as examples from '#api/features/queues/examples.ts'
import { queuePath, queueRoute, stagePath } from '#api/features/queues/queue-path.ts'
import { ids } from '#api/http/example-ids.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { answer, delegate } from '#api/http/route.ts'
import { claimItems } from '#shared/features/queues/claims/claim.ts'
import { requirePathStage } from '#shared/features/queues/definitions/read-definition.ts'
import { addItems, readNewItems } from '#shared/features/queues/items/add.ts'
import { itemsAsCsv } from '#shared/features/queues/items/csv.ts'
import { editItem, removeItem } from '#shared/features/queues/items/edit.ts'
import { getItem } from '#shared/features/queues/items/find.ts'
import { listItems } from '#shared/features/queues/items/list.ts'
import { moveItemForCaller } from '#shared/features/queues/items/move.ts'
import {
  addAnswer,
  addInput,
  changedItem,
  claimAnswer,
  claimInput,
  copiedItems,
  editInput,
  itemPage,
  itemsQuery,
  itemView,
  moveInput,
  scanAnswer,
  scanInput,
  scanLogAnswer,
  scanLogInput,
} from '#shared/features/queues/items/schemas.ts'
import { pressButtonJob } from '#shared/features/queues/jobs.ts'
import { judgeScan } from '#shared/features/queues/scans/scan.ts'
import { judgeScanLog } from '#shared/features/queues/scans/scan-log.ts'
import { requirePressable } from '#shared/features/queues/stages/buttons.ts'
import { actionInput } from '#shared/features/queues/stages/schemas.ts'

const items = `${queuePath}/items` as const
const item = `${items}/:itemId` as const

export const routes = [
  answer({
    ...queueRoute,
    method: 'GET',
    path: items,
    summary: 'List and filter items',
    description:
      'Newest first. With Accept: text/csv, up to 10,000 matching items as a file; X-Export-Truncated is true when there are more.',
    example: { params: { queueId: ids.queue }, query: { stage: 'expected', limit: 20 }, answer: examples.page },
    permission: 'queues:read',
    query: itemsQuery,
    status: 200,
    response: itemPage,
    contentType: 'text/csv',
    handle: async ({ resource: queue, query, header }, scope) => {
      if (!/^\s*text\/csv\b/i.test(header('accept'))) return listItems(scope, queue, query)
      const { truncated, stream } = await itemsAsCsv(scope, queue, query)
      const headers = { 'Content-Type': 'text/csv; charset=utf-8', ...(truncated ? { 'X-Export-Truncated': 'true' } : {}) }
      return new Reply(stream, headers)
    },
  }),
  answer({
    ...queueRoute,
    method: 'POST',
    path: items,
    summary: 'Add items',
    description:
      'Up to 500. A key that is already open is left unchanged unless the queue allows duplicates; if its item is hidden from the caller, the answer has no id.',
    example: {
      params: { queueId: ids.queue },
      body: { items: [{ key: 'P-1001', priority: 5, payload: { supplier: 'Finca Aurora' } }], batch: 'truck 7' },
      answer: {
        created: 1,
        duplicates: 0,
        items: [{ id: ids.queueItem, key: 'P-1001', stage: 'expected', status: 'open', duplicate: false }],
      },
    },
    permission: 'queues:enqueue',
    body: addInput,
    carries: copiedItems,
    status: 201,
    response: addAnswer,
    handle: ({ resource: queue, body }, scope) => {
      const { stage, batch, note, source = 'manual' } = body
      return addItems(scope, queue, readNewItems(body), { source, stage, batch, note })
    },
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: item,
    summary: 'Get an item',
    description: '`overdue` is computed at the time of the request.',
    example: { params: { queueId: ids.queue, itemId: ids.queueItem }, answer: examples.parcel },
    permission: 'queues:read',
    status: 200,
    response: itemView,
    handle: ({ resource, params }, scope) => getItem(scope, resource, params.itemId),
  }),
  answer({
    ...queueRoute,
    method: 'PATCH',
    path: item,
    summary: 'Edit an item without moving it',
    description: 'Omitted properties stay unchanged. VALIDATION_ERROR for a closed item and for an expired claim_token.',
    example: { params: { queueId: ids.queue, itemId: ids.queueItem }, body: { priority: 9 }, answer: examples.urgentParcel },
    permission: 'queues:transition',
    body: editInput,
    stored: ({ resource, params }, scope) => getItem(scope, resource, params.itemId),
    status: 200,
    response: changedItem,
    handle: ({ resource, params, body }, scope) => editItem(scope, resource, params.itemId, body),
  }),
  answer({
    ...queueRoute,
    method: 'DELETE',
    path: item,
    summary: 'Delete an item',
    description: 'Deletes the item permanently; its history stays.',
    example: { params: { queueId: ids.queue, itemId: ids.queueItem } },
    permission: 'queues:delete',
    status: 204,
    response: null,
    handle: ({ resource, params }, scope) => removeItem(scope, resource, params.itemId),
  }),
  answer({
    ...queueRoute,
    method: 'POST',
    path: `${item}/move`,
    summary: 'Move an item to a stage',
    description: 'The record patch of the stage is written first, as the caller; its failure stops the move. Every move ends the claim.',
    example: { params: { queueId: ids.queue, itemId: ids.queueItem }, body: { to_stage: 'stored' }, answer: examples.storedParcel },
    permission: 'queues:transition',
    fails: ['DUPLICATE_VALUE'],
    body: moveInput,
    status: 200,
    response: changedItem,
    handle: ({ resource, params, body }, scope) => moveItemForCaller(scope, resource, params.itemId, body),
  }),
  answer({
    ...queueRoute,
    method: 'POST',
    path: `${queuePath}/scan`,
    summary: 'Scan a key',
    description:
      'Advances the item of the key, or adds one where the queue takes unknown keys, which needs queues:enqueue too. A key whose item is hidden from the caller is unknown, and nothing is added.',
    example: { params: { queueId: ids.queue }, body: { key: 'P-1001' }, answer: examples.scanned },
    permission: 'queues:transition',
    body: scanInput,
    status: 200,
    response: scanAnswer,
    handle: ({ resource, body }, scope) => judgeScan(scope, resource, body),
  }),
  answer({
    ...queueRoute,
    method: 'POST',
    path: `${queuePath}/scan/batch`,
    summary: 'Send scans recorded offline',
    description: 'Up to 500, each scan_id judged once, in the order of scanning; answered in the order sent.',
    example: {
      params: { queueId: ids.queue },
      body: { scans: [{ scan_id: 'gate-1-000017', scanned_at: '2026-11-21T09:29:58Z', key: 'P-1001', station: 'gate 1' }] },
      answer: examples.scannedLater,
    },
    permission: 'queues:transition',
    repeatable: true,
    body: scanLogInput,
    status: 200,
    response: scanLogAnswer,
    handle: ({ resource, body }, scope) => judgeScanLog(scope, resource, body.scans),
  }),
  answer({
    ...queueRoute,
    method: 'POST',
    path: `${queuePath}/claim`,
    summary: 'Claim waiting items',
    description:
      "The highest priority first, then the oldest. A claim lasts as long as the queue's lease. No two callers get the same item, and hidden items are passed over.",
    example: { params: { queueId: ids.queue }, body: { stage: 'expected', count: 1 }, answer: examples.claimed },
    permission: 'queues:transition',
    body: claimInput,
    status: 200,
    response: claimAnswer,
    handle: ({ resource, body }, scope) => claimItems(scope, resource, body),
  }),
  delegate({
    ...queueRoute,
    method: 'POST',
    path: `${stagePath}/action`,
    summary: "Run a stage's button",
    description:
      "The button's function runs once for each item, with the rights that the caller and the function's author share. Needs functions:invoke too.",
    example: {
      params: { queueId: ids.queue, stageKey: 'expected' },
      body: { button_id: 'print_label', item_ids: [ids.queueItem] },
      answer: [{ item_id: ids.queueItem, ok: true }],
    },
    permission: 'queues:transition',
    body: actionInput,
    job: pressButtonJob,
    makes: 'json',
    payload: async ({ resource: queue, params, body }, scope) => {
      const { button_id: buttonId, item_ids: itemIds } = body
      const stage = requirePathStage(queue, params.stageKey).key
      await requirePressable(scope, queue, stage, buttonId)
      return { queueId: queue.id, stage, buttonId, itemIds }
    },
  }),
]
