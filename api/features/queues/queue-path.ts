import { byKey } from '#api/http/declaration.ts'
import { orgPath } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'

/** Settings of all routes of work queues. */
export const queuesRoute = { tag: 'Work queues', app: 'queues', limit: null } as const

const onQueue = async ({ params }: { params: { queueId: string } }, scope: Scope) => byKey(await requireQueue(scope, params.queueId))

/** Settings of all routes of one queue; the permission is checked for its key. */
export const queueRoute = { ...queuesRoute, on: onQueue } as const

export const queuesPath = `${orgPath}/queues` as const
export const queuePath = `${queuesPath}/:queueId` as const
export const stagePath = `${queuePath}/stages/:stageKey` as const
