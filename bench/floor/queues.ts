import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { runStatement } from '#bench/floor/database.ts'
import {
  entryOfItem,
  historyEntrySql,
  insertHistorySql,
  itemColumns,
  itemColumnsOf,
  updateCountsSql,
} from '#shared/features/queues/store.ts'
import { instant, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

/** Claims the first waiting item of a stage, as Kontor writes it: the item and its history entry, without checks. */
const claim = statement(
  'bench.claim',
  `with chosen as materialized (
    select id from queue_items
    where workspace_id = $workspaceId and queue_id = $queueId and status = 'open' and stage = any($stages::text[])
      and (claim_expires_at is null or claim_expires_at <= $now::timestamptz)
    order by priority desc, id limit 1 for update skip locked
  ),
  taken as (
    update queue_items as item
    set claimed_by = $actorId::uuid, claim_token = gen_random_uuid(), claim_expires_at = $expiresAt::timestamptz, attempts = item.attempts + 1,
      version = item.version + 1
    from chosen where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = chosen.id
    returning ${itemColumnsOf('item')}, item.claim_token
  ),
  written as (${insertHistorySql(
    `select ${historyEntrySql({
      ...entryOfItem('taken'),
      kind: `'claimed'`,
      actor_id: '$actorId::uuid',
      created_at: '$now::timestamptz',
      version: 'taken.version',
      facts: `jsonb_build_object('claimed_by', taken.claimed_by)`,
    })} from taken`,
  )})
  select * from taken`,
  {
    params: { workspaceId: uuid, queueId: uuid, stages: texts, now: instant, expiresAt: instant, actorId: uuid },
    columns: { ...itemColumns, claim_token: text },
  },
)

/** The open item of a key. */
const find = statement(
  'bench.find',
  `select ${itemColumnsOf('item')} from queue_items as item
   where workspace_id = $workspaceId and queue_id = $queueId and key = $key and status = 'open' order by id limit 1`,
  { params: { workspaceId: uuid, queueId: uuid, key: text }, columns: itemColumns },
)

/** Moves an item, with its history entry and the counts, without checks. */
const move = statement(
  'bench.move',
  `with target as materialized (
    select * from queue_items where workspace_id = $workspaceId and queue_id = $queueId and id = $id for update
  ),
  moved as (
    update queue_items as item
    set stage = $stage, entered_stage_at = $now, claimed_by = null, claim_token = null, claim_expires_at = null, version = item.version + 1
    from target where item.workspace_id = $workspaceId and item.queue_id = $queueId and item.id = target.id
    returning item.*
  ),
  written as (${insertHistorySql(
    `select ${historyEntrySql({
      ...entryOfItem('moved'),
      kind: `'moved'`,
      from_stage: 'target.stage',
      actor_id: '$actorId::uuid',
      created_at: '$now::timestamptz',
      version: 'moved.version',
      facts: `jsonb_build_object('stage', moved.stage, 'status', moved.status, 'claimed_by', null)`,
    })} from moved join target using (id)`,
  )}),
  counted as (${updateCountsSql(`
    select batch, stage, status, source = 'scan' as unexpected, -1 as items from target
    union all
    select batch, stage, status, source = 'scan', 1 from moved`)})
  select ${itemColumnsOf('moved')} from moved`,
  {
    params: { workspaceId: uuid, queueId: uuid, id: uuid, stage: text, now: instant, actorId: uuid },
    columns: itemColumns,
  },
)

const stages = ['in', 'work']

const placeOf = ({ workspace = '', queue = '' }: Readonly<Record<string, string>>) => ({ workspaceId: workspace, queueId: queue })

/** Stations of work queues, without access checks. */
export function queueRoutes(actorId: string): Router {
  const router = new Router({ prefix: '/queues/:workspace/:queue' })
  router.post('/claim', async (ctx) => {
    await readText(ctx.req)
    const now = Date.now()
    const items = await runStatement(
      claim({ ...placeOf(ctx.params), stages, now: new Date(now), expiresAt: new Date(now + 1_000), actorId }),
    )
    ctx.body = { data: { items, claimed: items.length } }
  })
  router.post('/items/:item/move', async (ctx) => {
    const { to_stage: stage } = JSON.parse(await readText(ctx.req))
    const [moved] = await runStatement(move({ ...placeOf(ctx.params), id: ctx.params.item ?? '', stage, now: new Date(), actorId }))
    ctx.body = { data: moved }
  })
  router.post('/scan', async (ctx) => {
    const { key, to_stage: stage } = JSON.parse(await readText(ctx.req))
    const [found] = await runStatement(find({ ...placeOf(ctx.params), key }))
    const [item] = await runStatement(move({ ...placeOf(ctx.params), id: found?.id ?? '', stage, now: new Date(), actorId }))
    ctx.body = { data: { verdict: 'moved', message: '', item } }
  })
  return router
}
