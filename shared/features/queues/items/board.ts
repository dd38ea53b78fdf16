import { createReader, type Scope } from '#shared/core/scope/scope.ts'
import { readCounts } from '#shared/features/queues/counts/summary.ts'
import { type Queue, queueNameOf } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { findBoard } from '#shared/features/queues/items/list-store.ts'
import { type Board, type BoardQuery, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'

/** A queue's board: open items in claim order, then, of terminal stages, the newest closed items. Two statements. */
export const readBoard = (scope: Scope, queue: Queue, query: BoardQuery): Promise<Board> =>
  withItemAccess(scope, queue, (itemAccess) => loadBoard(scope, queue, query, itemAccess))

async function loadBoard(scope: Scope, queue: Queue, { limit, batch }: BoardQuery, itemAccess: ItemAccess | undefined): Promise<Board> {
  const { workspace, now } = scope
  const keys = (stages: Queue['stages']) => stages.map(({ key }) => key)
  const terminal = queue.stages.filter(({ kind }) => kind === 'terminal')
  const statement = findBoard(itemAccess, {
    workspaceId: workspace.id,
    queueId: queue.id,
    openStages: keys(queue.stages),
    closedStages: keys(terminal),
    limit,
    batch: batch || null,
  })
  const rows = await readWholeList(createReader(scope), statement, 'limit must be lower here')
  const counts = await readCounts(scope, itemAccess, [queue.id], batch)
  const time = now()
  const itemsByStage = Map.groupBy(rows, ({ stage }) => stage)
  return {
    queue: queueNameOf(queue),
    stages: queue.stages.map(({ key, label, kind, position, wip_limit }) => {
      const { open = [], closed = [] } = Object.groupBy(itemsByStage.get(key) ?? [], ({ status }) =>
        status === 'open' ? 'open' : 'closed',
      )
      const items = [...open, ...closed].slice(0, limit).map((row) => viewOfItem(queue, row, time))
      const total = counts
        .filter(({ stage, status }) => stage === key && (status === 'open' || kind === 'terminal'))
        .reduce((sum, { items }) => sum + items, 0)
      return { key, label, kind, position, wip_limit, items, total, next_offset: total > items.length ? items.length : null }
    }),
  }
}
