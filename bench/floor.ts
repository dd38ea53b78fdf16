import Router from '@koa/router'
import Koa from 'koa'
import pg from 'pg'
import type { Loaded } from '#bench/data.ts'
import { createLiving, type Living, livingValues } from '#bench/living-floor.ts'

/**
 * The floor: bare Koa routes that send the same statements with raw pg, prepared, and answer the rows. No credentials, no rules, no
 * checks. Started by the bench with DATABASE_URL, PORT and FLOOR, a JSON text of what was loaded and of the living type.
 */
const { schema, workspaceId, typeId, actorId, columns, living } = JSON.parse(process.env.FLOOR ?? '{}') as Loaded & { living: Living }
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 })
const { name, stage, amount, due, email, notes } = columns
const table = `"${schema}"."deals"`
const all = `id, created_by, created_at, updated_at, "${name}", "${stage}", "${amount}", "${amount}_code", "${due}", "${email}", "${notes}"`

const statements = {
  get: `select ${all} from ${table} where id = $1`,
  list: `select ${all} from ${table} order by id desc limit $1`,
  search: `select counted.total, page.* from (select count(*) as total from ${table} where "${stage}" = $1) as counted
    left join (select ${all} from ${table} where "${stage}" = $1 order by id desc limit $2 offset $3) as page on true`,
  create: `with fresh as (select uuidv7() as id),
    changed as (
      insert into ${table} (id, created_by, created_at, updated_at, "${name}", "${stage}", "${amount}", "${amount}_code", "${due}", "${email}", "${notes}")
      select id, $1::uuid, uuid_extract_timestamp(id), uuid_extract_timestamp(id), $2, $3, $4::numeric, $5, $6::date, $7, $8 from fresh
      returning id, created_at
    ),
    audited as (
      insert into audit_entries (workspace_id, actor_id, actor_type, action, object_type, record_id, before, after, request_id)
      select $9::uuid, $1::uuid, 'user', 'record.created', 'deals', id, null, $10::jsonb, 'floor' from changed
    ),
    counted as (
      insert into record_counts as count (workspace_id, type_id, share, records)
      select $9::uuid, $11::uuid, pg_backend_pid() % 32, count(*) from changed having count(*) > 0
      on conflict (workspace_id, type_id, share) do update set records = count.records + excluded.records
    )
    select id, created_at from changed`,
  living: createLiving(schema, living.columns),
} as const

const query = async (statement: keyof typeof statements, values: unknown[]) =>
  (await pool.query({ name: statement, text: statements[statement], values })).rows

const router = new Router()
router.get('/deals/:id', async (ctx) => {
  ctx.body = { data: (await query('get', [ctx.params.id]))[0] }
})
router.get('/deals', async (ctx) => {
  ctx.body = { data: { records: await query('list', [50]) } }
})
router.get('/search', async (ctx) => {
  const rows = await query('search', [ctx.query.stage, 50, 0])
  ctx.body = { data: { records: rows, total: rows[0].total } }
})
router.post('/deals', async (ctx) => {
  const values = await valuesOf(ctx.req)
  const given = [values.name, values.stage, values.amount, 'USD', values.due, values.email, values.notes]
  const [row] = await query('create', [actorId, ...given, workspaceId, JSON.stringify(values), typeId])
  ctx.status = 201
  ctx.body = { data: { ...row, values } }
})
router.post('/orders', async (ctx) => {
  const values = await valuesOf(ctx.req)
  const [row] = await query('living', [actorId, ...livingValues(values), workspaceId, JSON.stringify(values), living.typeId, living.ruleId])
  ctx.status = 201
  ctx.body = { data: { ...row, values } }
})

async function valuesOf(request: AsyncIterable<Buffer>): Promise<Record<string, string>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString()).values
}

const app = new Koa()
app.use(router.routes())
app.listen(Number(process.env.PORT), '127.0.0.1')
