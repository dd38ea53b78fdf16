import { sender } from '#bench/client.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { integer, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** A queue that was filled directly in the database. */
export interface FilledQueue {
  /** `/v1/orgs/{org}/queues/{queue}`. */
  readonly path: string
  /** `{org}/{queue}`, the floor's name for it. */
  readonly place: string
  readonly items: number
  /** Ids of some open items. */
  readonly open: readonly string[]
}

const stages = [{ key: 'in', kind: 'start', sla_seconds: 1_000_000 }, { key: 'work' }, { key: 'out', kind: 'terminal' }]

/** Claims expire after a second, so that both sides always find something to claim. */
const settings = { lease_seconds: 1 }

/** A tenth of the items waits in the stage `in`, a tenth is in `work`, the others are done. */
const fillItems = statement(
  'bench.fillItems',
  `insert into queue_items (workspace_id, queue_id, key, stage, status, priority, source, batch, payload, assignee_id, entered_stage_at,
     created_at, closed_at, twin)
   select $workspaceId, $queueId, 'key ' || number, case number % 10 when 0 then 'in' when 1 then 'work' else 'out' end,
     case when number % 10 < 2 then 'open' else 'done' end, number % 3, 'import', 'batch ' || number % 20, '{}', '', now(), now(),
     case when number % 10 < 2 then null else now() end, $queueId
   from generate_series(1, $items::integer) as number`,
  { params: { workspaceId: uuid, queueId: uuid, items: integer } },
)

const fillCounts = statement(
  'bench.fillCounts',
  `insert into queue_counts (workspace_id, queue_id, batch, stage, status, unexpected, share, items)
   select $workspaceId, $queueId, part, stage, status, false, 0, count(*)
   from queue_items, unnest(array['', batch]) as part
   where workspace_id = $workspaceId and queue_id = $queueId
   group by part, stage, status`,
  { params: { workspaceId: uuid, queueId: uuid } },
)

const findSome = statement(
  'bench.findSome',
  `select id from queue_items where workspace_id = $workspaceId and queue_id = $queueId and status = 'open' order by id limit 2000`,
  { params: { workspaceId: uuid, queueId: uuid }, columns: { id: uuid.notNull } },
)

/** Makes a queue of each size through the API, and fills it directly. */
export function makeQueues(
  { databaseUrl, kontorUrl }: { readonly databaseUrl: string; readonly kontorUrl: string },
  place: { readonly workspaceId: string; readonly token: string },
  sizes: readonly number[],
): Promise<FilledQueue[]> {
  const send = sender(kontorUrl, place)
  return withDatabase(databaseUrl, 'queues', async (db) => {
    const made: FilledQueue[] = []
    for (const items of sizes) {
      const { id }: { readonly id: string } = await send('POST', '/queues', { name: `Of ${items}`, stages, settings })
      const queue = { workspaceId: place.workspaceId, queueId: id }
      await db.query(fillItems({ ...queue, items }))
      await db.query(fillCounts(queue))
      const open = await db.query(findSome(queue))
      const ids = open.map((item) => item.id)
      made.push({ path: `/v1/orgs/${place.workspaceId}/queues/${id}`, place: `${place.workspaceId}/${id}`, items, open: ids })
    }
    for (const table of ['queue_items', 'queue_counts', 'queue_history']) await db.query({ text: `vacuum analyze ${table}` })
    return made
  })
}
