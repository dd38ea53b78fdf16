import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { pool } from '#bench/floor/database.ts'
import { createLiving, type Living, livingValues } from '#bench/floor/living-statement.ts'

/** Creations of the living type, with all rows that Kontor writes. */
export function livingRoutes(actorId: string, living: Living): Router {
  const [router, text] = [new Router(), createLiving(living)]
  router.post('/orders', async (ctx) => {
    const { values } = JSON.parse(await readText(ctx.req))
    const parameters = [actorId, ...livingValues(values), living.workspaceId, JSON.stringify(values), living.typeId]
    const { rows } = await pool.query({ name: 'living', text, values: parameters })
    ctx.status = 201
    ctx.body = { data: { ...rows[0], values } }
  })
  return router
}
