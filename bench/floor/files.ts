import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import Router from '@koa/router'

/** Files on the same disk as Kontor's, streamed by Koa: no form, no digest, no row; synced to disk as Kontor's are. */
export async function fileRoutes(dataDir: string): Promise<Router> {
  const folder = join(dataDir, 'floor')
  await mkdir(folder, { recursive: true })
  const router = new Router()
  router.post('/files/:name', async (ctx) => {
    await pipeline(ctx.req, createWriteStream(join(folder, ctx.params.name ?? ''), { flush: true }))
    ctx.status = 201
    ctx.body = { data: {} }
  })
  router.get('/files/:name', async (ctx) => {
    const file = join(folder, ctx.params.name ?? '')
    ctx.length = (await stat(file)).size
    ctx.body = createReadStream(file)
  })
  return router
}
