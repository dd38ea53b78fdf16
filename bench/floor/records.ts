import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { inTransaction, pool, type Run, runnerOf } from '#bench/floor/database.ts'
import type { FloorOptions, FloorType } from '#bench/floor/type.ts'

/** Body of a search, by its kind. */
const searches: Readonly<Record<string, (value: string) => unknown[]>> = {
  filter: (value) => [value],
  range: (value) => value.split(' '),
  wide: (value) => [...value.split(' '), '2026-07-01'],
  any: (value) => value.split(' '),
  counts: () => [],
  q: (value) => [`%${value}%`, `%${value}%`],
  sort: () => [],
  total: () => [],
}

/** Reads and writes of records: the statement and its rows, without credentials, rules or checks. */
export function recordRoutes({ actorId, types }: FloorOptions): Router {
  const router = new Router()
  const known = new Map(types.map((type) => [type.typeId, { type, run: runnerOf(type) }]))
  const of = (typeId: string | undefined): { type: FloorType; run: Run } => {
    const found = known.get(typeId ?? '')
    if (!found) throw new Error(`There is no type ${typeId}`)
    return found
  }
  router.get('/records/:type/:id', async (ctx) => {
    const [row] = await of(ctx.params.type).run(pool, 'get', [ctx.params.id])
    ctx.body = { data: row }
  })
  router.get('/records/:type', async (ctx) => {
    ctx.body = { data: { records: await of(ctx.params.type).run(pool, 'list', [50]) } }
  })
  router.get('/search/:type/:kind', async (ctx) => {
    const { type, kind = '' } = ctx.params
    const values = searches[kind]?.(String(ctx.query.value ?? '')) ?? []
    const rows = await of(type).run(pool, kind as 'filter', [...values, 50, 0])
    ctx.body = { data: { records: rows, total: rows[0]?.total } }
  })
  router.post('/records/:type', async (ctx) => {
    const { type, run } = of(ctx.params.type)
    const { values } = JSON.parse(await readText(ctx.req))
    const recordValues = [values.name, values.stage, values.amount, 'USD', values.due, values.email, values.notes]
    const [row] = await run(pool, 'create', [actorId, ...recordValues, type.workspaceId, type.key, JSON.stringify(values), type.typeId])
    ctx.status = 201
    ctx.body = { data: { ...row, values } }
  })
  router.put('/records/:type/:id', async (ctx) => {
    const { type, run } = of(ctx.params.type)
    const { values } = JSON.parse(await readText(ctx.req))
    const { stage, amount } = type.columns
    await inTransaction(async (connection) => {
      const [row] = await run(connection, 'lock', [ctx.params.id])
      const before = JSON.stringify({ stage: row?.[stage], amount: row?.[amount] })
      const who = [type.workspaceId, actorId, type.key]
      await run(connection, 'update', [ctx.params.id, values.stage, values.amount, ...who, before, JSON.stringify(values)])
    })
    ctx.body = { data: {} }
  })
  router.post('/import/:type', async (ctx) => {
    const { type, run } = of(ctx.params.type)
    const [, ...rows] = (await readText(ctx.req)).trimEnd().split('\n')
    const cells = rows.map((row) => row.split(','))
    const columns = Array.from({ length: 6 }, (_, index) => cells.map((row) => row[index]))
    const [row] = await run(pool, 'import', [type.workspaceId, actorId, type.typeId, ...columns, type.key])
    ctx.body = { data: row }
  })
  router.get('/export/:type', async (ctx) => {
    const rows = await of(ctx.params.type).run(pool, 'export', [10_000])
    ctx.type = 'text/csv'
    ctx.body = rows.map((row) => Object.values(row).join(',')).join('\n')
  })
  return router
}
