import { problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'

/** The parts of a queue that commands use. */
export interface QueueTarget {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly stages: readonly { readonly key: string; readonly label: string }[]
}

/** Finds a queue by its key. Throws NOT_FOUND that lists the existing queues. Needs queues:read. */
export async function findQueue(api: Api, orgId: string, key: string): Promise<QueueTarget> {
  const queues = await api.get<readonly QueueTarget[]>(`/orgs/${orgId}/queues`)
  const found = queues.find((queue) => queue.key === key)
  if (found) return found
  const known = queues.map((queue) => queue.key).join(', ')
  throw problem('NOT_FOUND', `There is no queue ${key}${known ? `, only ${known}` : ''}.`)
}

/** Throws VALIDATION_ERROR when the queue does not have the stage. */
export function requireStageOf(queue: QueueTarget, stage: string, option: string): void {
  if (queue.stages.some(({ key }) => key === stage)) return
  throw problem('VALIDATION_ERROR', `--${option} must be one of ${queue.stages.map(({ key }) => key).join(', ')}, got ${stage}`)
}
