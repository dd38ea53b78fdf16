import Koa from 'koa'
import { contentRoutes } from '#bench/floor/content.ts'
import { fileRoutes } from '#bench/floor/files.ts'
import { jobRoutes } from '#bench/floor/jobs.ts'
import { ledgerRoutes } from '#bench/floor/ledger.ts'
import { livingRoutes } from '#bench/floor/living.ts'
import { queueRoutes } from '#bench/floor/queues.ts'
import { recordRoutes } from '#bench/floor/records.ts'
import type { FloorOptions } from '#bench/floor/type.ts'

/**
 * The floor: bare Koa routes that send the same prepared statements by raw pg and answer the rows. The bench starts it with DATABASE_URL,
 * PORT and FLOOR, the JSON of its options.
 */
const options = JSON.parse(process.env.FLOOR ?? '{}') as FloorOptions
const app = new Koa()
app.use(recordRoutes(options).routes())
app.use((await fileRoutes(process.env.DATA_DIR ?? '.')).routes())
app.use(ledgerRoutes(options.actorId).routes())
app.use(queueRoutes(options.actorId).routes())
app.use(contentRoutes().routes())
if (options.living) app.use(livingRoutes(options.actorId, options.living).routes())
app.use((await jobRoutes()).routes())
app.listen(Number(process.env.PORT), '127.0.0.1')
