import { createReader, type Scope } from '#shared/core/scope/scope.ts'
import { readCounts } from '#shared/features/queues/counts/summary.ts'
import { type Queue, queueName, queueNameOf, stageHeading } from '#shared/features/queues/definitions/schemas.ts'
import { withItemAccess } from '#shared/features/queues/items/item-access.ts'
import type { ItemAccess } from '#shared/features/queues/items/item-access-store.ts'
import { findBoard } from '#shared/features/queues/items/list-store.ts'
import { type ItemRow, itemView, viewOfItem } from '#shared/features/queues/items/schemas.ts'
import { readWholeList } from '#shared/platform/db/lists.ts'
import { nullable, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

export const boardQuery = schema(t.Object({ limit: t.Integer({ minimum: 1, maximum: 200, default: 50 }), batch: t.Optional(t.String()) }))
type BoardQuery = TypeOf<typeof boardQuery>

/** Every stage with its first items (document 2, GET board). */
export const boardAnswer = schema(
  t.Object(
    {
      queue: queueName,
      stages: t.Array(
        t.Object({
          ...stageHeading,
          items: t.Array(itemView.json),
          total: t.Integer({ description: 'Open items; of a terminal stage the closed ones.' }),
          next_offset: nullable(t.Integer({ description: "Where the route of the stage's items goes on; null when all are shown." })),
        }),
      ),
    },
    { title: 'QueueBoard' },
  ),
)
type Board = TypeOf<typeof boardAnswer>

/** The board of a queue: open items as they would be claimed, of a terminal stage the newest closed ones. Two statements. */
export const readBoard = (scope: Scope, queue: Queue, query: BoardQuery): Promise<Board> =>
  withItemAccess(scope, queue, (sight) => boardInSight(scope, queue, query, sight))

async function boardInSight(scope: Scope, queue: Queue, { limit, batch }: BoardQuery, sight: ItemAccess | undefined): Promise<Board> {
  const { workspace, now } = scope
  const [terminal, others] = [
    queue.stages.filter(({ kind }) => kind === 'terminal'),
    queue.stages.filter(({ kind }) => kind !== 'terminal'),
  ]
  const keys = (stages: Queue['stages']) => stages.map(({ key }) => key)
  const found = findBoard(sight, workspace.id, queue.id, keys(others), keys(terminal), limit, batch || null)
  const rows = await readWholeList<ItemRow>(createReader(scope), found, 'limit must be lower here')
  const counts = await readCounts(scope, sight, [queue.id], batch)
  const time = now()
  const shown = Map.groupBy(rows, ({ stage }) => stage)
  return {
    queue: queueNameOf(queue),
    stages: queue.stages.map(({ key, label, kind, position, wip_limit }) => {
      const items = (shown.get(key) ?? []).map((row) => viewOfItem(queue, row, time))
      const total = counts
        .filter(({ stage, status }) => stage === key && (status === 'open') === (kind !== 'terminal'))
        .reduce((sum, { items }) => sum + items, 0)
      return { key, label, kind, position, wip_limit, items, total, next_offset: total > items.length ? items.length : null }
    }),
  }
}
