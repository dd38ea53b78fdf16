import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { pool } from '#bench/floor/database.ts'
import { historyEntrySql, insertHistorySql, itemColumnsOf, updateCountsSql } from '#shared/features/queues/store.ts'

/** Claims the first waiting item of a stage, as Kontor writes it: the item and its history entry, without checks. */
const claim = `with chosen as materialized (
    select id from queue_items
    where workspace_id = $1 and queue_id = $2 and status = 'open' and stage = any($3::text[])
      and (claim_expires_at is null or claim_expires_at <= $4::timestamptz)
    order by priority desc, id limit 1 for update skip locked
  ),
  taken as (
    update queue_items as item
    set claimed_by = $6::uuid, claim_token = gen_random_uuid(), claim_expires_at = $5::timestamptz, attempts = item.attempts + 1,
      version = item.version + 1
    from chosen where item.workspace_id = $1 and item.queue_id = $2 and item.id = chosen.id
    returning ${itemColumnsOf('item')}, item.claim_token
  ),
  written as (${insertHistorySql(
    `select ${historyEntrySql({
      item_id: 'taken.id',
      key: 'taken.key',
      kind: `'claimed'`,
      from_stage: 'taken.stage',
      to_stage: 'taken.stage',
      status: 'taken.status',
      actor_id: '$6::uuid',
      created_at: '$4::timestamptz',
      version: 'taken.version',
      facts: `jsonb_build_object('claimed_by', taken.claimed_by)`,
    })} from taken`,
  )})
  select * from taken`

/** The open item of a key. */
const find = `select ${itemColumnsOf('item')} from queue_items as item
  where workspace_id = $1 and queue_id = $2 and key = $3 and status = 'open' order by id limit 1`

/** Moves an item, with its history entry and the counts, without checks. */
const move = `with target as materialized (
    select * from queue_items where workspace_id = $1 and queue_id = $2 and id = $3 for update
  ),
  moved as (
    update queue_items as item
    set stage = $4, entered_stage_at = $5, claimed_by = null, claim_token = null, claim_expires_at = null, version = item.version + 1
    from target where item.workspace_id = $1 and item.queue_id = $2 and item.id = target.id
    returning item.*
  ),
  written as (${insertHistorySql(
    `select ${historyEntrySql({
      item_id: 'moved.id',
      key: 'moved.key',
      kind: `'moved'`,
      from_stage: 'target.stage',
      to_stage: 'moved.stage',
      status: 'moved.status',
      actor_id: '$6::uuid',
      created_at: '$5::timestamptz',
      version: 'moved.version',
      facts: `jsonb_build_object('stage', moved.stage, 'status', moved.status, 'claimed_by', null)`,
    })} from moved join target using (id)`,
  )}),
  counted as (${updateCountsSql(`
    select batch, stage, status, source = 'scan' as unexpected, -1 as items from target
    union all
    select batch, stage, status, source = 'scan', 1 from moved`)})
  select ${itemColumnsOf('moved')} from moved`

const stages = ['in', 'work']

/** Stations of work queues, without access checks. */
export function queueRoutes(actorId: string): Router {
  const router = new Router({ prefix: '/queues/:workspace/:queue' })
  const run = async (name: string, text: string, values: unknown[]) => (await pool.query({ name: `queue ${name}`, text, values })).rows
  router.post('/claim', async (ctx) => {
    await readText(ctx.req)
    const now = Date.now()
    const [from, until] = [new Date(now).toISOString(), new Date(now + 1_000).toISOString()]
    const items = await run('claim', claim, [ctx.params.workspace, ctx.params.queue, stages, from, until, actorId])
    ctx.body = { data: { items, claimed: items.length } }
  })
  router.post('/items/:item/move', async (ctx) => {
    const { workspace, queue, item } = ctx.params
    const { to_stage } = JSON.parse(await readText(ctx.req))
    const [moved] = await run('move', move, [workspace, queue, item, to_stage, new Date().toISOString(), actorId])
    ctx.body = { data: moved }
  })
  router.post('/scan', async (ctx) => {
    const { workspace, queue } = ctx.params
    const { key, to_stage } = JSON.parse(await readText(ctx.req))
    const [found] = await run('find', find, [workspace, queue, key])
    const [item] = await run('move', move, [workspace, queue, found.id, to_stage, new Date().toISOString(), actorId])
    ctx.body = { data: { verdict: 'moved', message: '', item } }
  })
  return router
}
