import Router from '@koa/router'
import { pool } from '#bench/floor/database.ts'

/** Counts a visitor's requests in a window, as every API must: by the database's clock, for all processes. */
const count = `insert into rate_limits as counted (key, points, expire)
  values ($1, 1, floor(extract(epoch from now()) * 1000)::bigint + 60000)
  on conflict (key) do update set points = counted.points + 1
  returning points`

/** A published document of a published website. */
const find = `select content.path, content.title, content.body, content.fields, content.updated_at
  from sites as site
  join site_content as content on content.workspace_id = site.workspace_id and content.site_id = site.id
  where site.workspace_id = $1 and site.key = $2 and site.published and content.path = $3 and content.published`

/** Reads of website content: counts the visitor's request and answers the document, without a check of access. */
export function contentRoutes(): Router {
  const router = new Router()
  router.get('/content/:workspaceId/:site/:path', async (ctx) => {
    const { workspaceId, site, path } = ctx.params
    await pool.query({ name: 'count', text: count, values: [`floor:${ctx.get('x-forwarded-for')}`] })
    const { rows } = await pool.query({ name: 'content', text: find, values: [workspaceId, site, path] })
    ctx.body = { data: rows[0] }
  })
  return router
}
