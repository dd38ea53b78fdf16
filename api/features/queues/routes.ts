import * as examples from '#api/features/queues/examples.ts'
import { queuePath, queueRoute, queuesPath, queuesRoute, stagePath } from '#api/features/queues/queue-path.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, delegate } from '#api/http/route.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { requireFlow } from '#shared/features/flows/definitions/flows.ts'
import { batchList, summaryAnswer } from '#shared/features/queues/counts/schemas.ts'
import { listBatches, readSummary } from '#shared/features/queues/counts/summary.ts'
import { createQueue, getQueue, listQueues, removeQueue, replaceQueue } from '#shared/features/queues/definitions/queues.ts'
import { keyFromName, requirePathStage } from '#shared/features/queues/definitions/read-definition.ts'
import type { FlowCheck } from '#shared/features/queues/definitions/references.ts'
import { type Queue, queueInput, queueReplacement, queueView } from '#shared/features/queues/definitions/schemas.ts'
import { listHistory } from '#shared/features/queues/history/list.ts'
import { historyQuery, historySchema } from '#shared/features/queues/history/schemas.ts'
import { readBoard } from '#shared/features/queues/items/board.ts'
import { listStageItems } from '#shared/features/queues/items/list.ts'
import { boardAnswer, boardQuery, itemPage, stageItemsQuery } from '#shared/features/queues/items/schemas.ts'
import { verifyQueueJob } from '#shared/features/queues/jobs.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Verification counts hidden items, so it needs queues:update on a queue whose items follow their records. */
const verified = ({ resource: { key, settings } }: { resource: Queue }) => (settings.items_follow_records ? key : undefined)

/** Throws VALIDATION_ERROR naming `path` for an unknown flow, FORBIDDEN when the caller may not start it. */
const requireFlowToRun: FlowCheck = async (scope, flowId, path) => {
  const { id } = await requireFlow(scope, flowId).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'NOT_FOUND')
      throw problem('VALIDATION_ERROR', `${path} must be the id of a flow, got ${flowId}`)
    throw error
  })
  requirePermission(scope, 'flows:run', id)
}

export const routes = [
  answer({
    ...queuesRoute,
    method: 'GET',
    path: queuesPath,
    summary: 'List work queues',
    description: 'Queues visible to the caller, with their counts.',
    example: { query: { limit: 20 }, answer: [examples.dock] },
    permission: 'queues:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(queueView.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listQueues(scope, request.query)),
  }),
  answer({
    ...queuesRoute,
    method: 'POST',
    path: queuesPath,
    summary: 'Create a work queue',
    description: 'At most 200 in a workspace. Without stages it has To do, Doing and Done.',
    example: {
      body: {
        key: 'dock',
        name: 'Dock',
        object_type: 'orders',
        stages: [
          { key: 'expected', label: 'Expected', kind: 'start', position: 1 },
          { key: 'stored', label: 'Stored', kind: 'terminal', position: 2 },
        ],
      },
      answer: examples.newDock,
    },
    permission: 'queues:create',
    onBody: ({ body }) => body.key ?? keyFromName(body.name),
    fails: ['KEY_TAKEN'],
    body: queueInput,
    status: 201,
    response: queueView,
    handle: ({ body }, scope) => createQueue(scope, body, requireFlowToRun),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: queuePath,
    summary: 'Get a work queue',
    description: 'With its stages in order.',
    example: { params: { queueId: ids.queue }, answer: examples.dock },
    permission: 'queues:read',
    status: 200,
    response: queueView,
    handle: ({ resource }, scope) => getQueue(scope, resource),
  }),
  answer({
    ...queueRoute,
    method: 'PUT',
    path: queuePath,
    summary: "Replace a work queue's definition",
    description:
      'Omitted properties stay unchanged. Items keep the stages whose keys are sent; a stage with open items cannot be removed. Intake then acts with the rights of the caller.',
    example: { params: { queueId: ids.queue }, body: { name: 'Loading dock' }, answer: examples.renamedDock },
    permission: 'queues:update',
    body: queueReplacement,
    stored: ({ resource }, scope) => getQueue(scope, resource),
    status: 200,
    response: queueView,
    handle: ({ resource, body }, scope) => replaceQueue(scope, resource, body, requireFlowToRun),
  }),
  answer({
    ...queueRoute,
    method: 'DELETE',
    path: queuePath,
    summary: 'Delete a work queue',
    description: 'With its items and their history.',
    example: { params: { queueId: ids.queue } },
    permission: 'queues:delete',
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeQueue(scope, resource),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: `${queuePath}/board`,
    summary: 'List the stages of a work queue with their first items',
    description: 'Open items in claim order; in a terminal stage, then the newest closed ones.',
    example: { params: { queueId: ids.queue }, query: { limit: 20 }, answer: examples.board },
    permission: 'queues:read',
    query: boardQuery,
    status: 200,
    response: boardAnswer,
    handle: ({ resource, query }, scope) => readBoard(scope, resource, query),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: `${stagePath}/items`,
    summary: "List one stage's items",
    description: 'Open items in claim order, then closed ones, last closed first. The items of a board continue here by `offset`.',
    example: { params: { queueId: ids.queue, stageKey: 'expected' }, query: { limit: 20 }, answer: examples.page },
    permission: 'queues:read',
    query: stageItemsQuery,
    status: 200,
    response: itemPage,
    handle: ({ resource, params, query }, scope) => listStageItems(scope, resource, requirePathStage(resource, params.stageKey), query),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: `${queuePath}/summary`,
    summary: 'Get the counts of a work queue',
    description: 'Number of items by stage, open, closed, unexpected and overdue; of one batch with `batch`.',
    example: { params: { queueId: ids.queue }, answer: examples.report },
    permission: 'queues:read',
    query: schema(t.Object({ batch: t.Optional(t.String()) })),
    status: 200,
    response: summaryAnswer,
    handle: ({ resource, query }, scope) => readSummary(scope, resource, query.batch),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: `${queuePath}/batches`,
    summary: 'List the batch labels of a work queue',
    description: 'With the number of their items.',
    example: { params: { queueId: ids.queue }, answer: [{ batch: 'truck 7', total: 2, open: 1, closed: 1 }] },
    permission: 'queues:read',
    status: 200,
    response: batchList,
    handle: ({ resource }, scope) => listBatches(scope, resource),
  }),
  answer({
    ...queueRoute,
    method: 'GET',
    path: `${queuePath}/events`,
    summary: 'List the history of a work queue',
    description: 'Newest first.',
    example: { params: { queueId: ids.queue }, query: { item_id: ids.queueItem, limit: 20 }, answer: [examples.moveEvent] },
    permission: 'queues:read',
    query: historyQuery,
    status: 200,
    response: historySchema,
    handle: ({ resource, query }, scope) => listHistory(scope, resource, query),
  }),
  delegate({
    ...queueRoute,
    method: 'GET',
    path: `${queuePath}/verify`,
    summary: 'Prove a queue by its history',
    description:
      "Replays every item's history against its row, and the rows against the counts. Where items follow their records it counts hidden ones too, and needs queues:update.",
    example: { params: { queueId: ids.queue }, answer: { ok: true, added: 2, deleted: 0, open: 1, closed: 1, differences: [] } },
    permission: 'queues:read',
    further: [{ permission: 'queues:update', on: verified }],
    job: verifyQueueJob,
    makes: 'json',
    payload: ({ resource }) => ({ queueId: resource.id }),
  }),
]
