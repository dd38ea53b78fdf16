import { org } from '#api/http/route.ts'
import { requireQueue } from '#shared/queues/load.ts'
import type { Queue } from '#shared/queues/queue.ts'
import type { Scope } from '#shared/scope/scope.ts'

type OfQueue = { params: { queueId: string } }

/** The queue that a path names; throws like `requireQueue`. */
export const queueOf = ({ params }: OfQueue, scope: Scope): Promise<Queue> => requireQueue(scope, params.queueId)

/** What all routes of work queues share. */
export const ofQueues = { tag: 'Work queues', app: 'queues', limit: null } as const

/** What all routes of one queue share: the permission is asked for its key. */
export const ofQueue = { ...ofQueues, on: async (request: OfQueue, scope: Scope) => (await queueOf(request, scope)).key } as const

export const queuesPath = `${org}/queues` as const
export const queuePath = `${queuesPath}/:queueId` as const
export const stagePath = `${queuePath}/stages/:stageKey` as const
