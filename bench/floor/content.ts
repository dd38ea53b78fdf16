import Router from '@koa/router'
import { runStatement } from '#bench/floor/database.ts'
import { findDeliveredContent } from '#shared/features/sites/content-store.ts'
import { upsertWindow } from '#shared/platform/db/rate-limit-store.ts'

/** Reads of website content: counts the visitor's request, as every API must, and answers the document, without a check of access. */
export function contentRoutes(): Router {
  const router = new Router()
  router.get('/content/:workspaceId/:site/:path', async (ctx) => {
    const { workspaceId = '', site: siteKey = '', path = '' } = ctx.params
    await runStatement(upsertWindow({ key: `floor:${ctx.get('x-forwarded-for')}`, windowMs: 60_000 }))
    const [document] = await runStatement(findDeliveredContent({ workspaceId, siteKey, path, knownVersions: [] }))
    ctx.body = { data: document }
  })
  return router
}
