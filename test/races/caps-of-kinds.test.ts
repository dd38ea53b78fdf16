import test from 'ava'
import { atOnce, openArena, type Ring, tally } from '#test/races/arena.ts'
import type { Answer, Client } from '#test/support/client.ts'

const arena = openArena(test)

interface Kind {
  readonly table: string
  readonly path: string
  readonly most: number
  /** What the refusal names. */
  readonly named: RegExp
  readonly body: (n: number) => object
  /** Fills the workspace ($1) with so many ($2) rows. */
  readonly fill: string
  /** Which rows count. */
  readonly counted?: string
}

const kinds: readonly Kind[] = [
  {
    table: 'message_templates',
    path: 'messages/templates',
    most: 1_000,
    named: /1,000 templates/,
    body: (n) => ({ name: `T${n}`, subject: 'S' }),
    fill: `insert into message_templates (workspace_id, id, name, subject, body_text, body_html, created_at, updated_at)
      select $1, uuidv7(), 'T', 'S', '', '', now(), now() from generate_series(1, $2::integer)`,
  },
  {
    table: 'forms',
    path: 'forms',
    most: 500,
    named: /500 forms/,
    body: (n) => ({ key: `new-${n}`, name: 'F', fields: [] }),
    fill: `insert into forms (workspace_id, id, key, name, description, fields, settings, published)
      select $1, uuidv7(), 'form-' || n, 'F', '', '[]', '{}', false from generate_series(1, $2::integer) as n`,
  },
  {
    table: 'functions',
    path: 'functions',
    most: 500,
    named: /500 functions/,
    body: (n) => ({ name: `F${n}`, source: 'const handler = () => 1' }),
    fill: `insert into functions (workspace_id, id, name, description, source, timeout_ms, http_enabled, author_id)
      select $1, uuidv7(), 'F' || n, '', '', 5000, false, uuidv7() from generate_series(1, $2::integer) as n`,
  },
  {
    table: 'flows',
    path: 'flows',
    most: 500,
    named: /500 flows/,
    body: (n) => ({ name: `F${n}` }),
    fill: `insert into flows (workspace_id, id, name, created_at, updated_at)
      select $1, uuidv7(), 'F', now(), now() from generate_series(1, $2::integer)`,
  },
  {
    table: 'queues',
    path: 'queues',
    most: 200,
    named: /200 queues/,
    body: (n) => ({ key: `new_${n}`, name: 'Q', stages: [{ key: 'open', label: 'Open' }] }),
    fill: `insert into queues (workspace_id, id, key, name, object_type, enabled, stages, intake, settings, editor_id)
      select $1, uuidv7(), 'q' || n, 'Q', null, true, '[]', '{}', '{}', uuidv7() from generate_series(1, $2::integer) as n`,
  },
  {
    table: 'calendars',
    path: 'calendar/calendars',
    most: 200,
    named: /200 calendars/,
    body: (n) => ({ key: `new-${n}`, name: 'C' }),
    fill: `insert into calendars (workspace_id, id, key, kind, name, timezone)
      select $1, uuidv7(), 'cal-' || n, 'org', 'C', 'UTC' from generate_series(1, $2::integer) as n`,
    counted: `not is_primary and key <> 'team'`,
  },
  {
    table: 'sites',
    path: 'sites',
    most: 100,
    named: /100 websites/,
    body: (n) => ({ key: `new-${n}`, name: 'S' }),
    fill: `insert into sites (workspace_id, id, key, name, published, created_at, updated_at)
      select $1, uuidv7(), 'site-' || n, 'S', false, now(), now() from generate_series(1, $2::integer) as n`,
    counted: 'not is_shared',
  },
]

const create =
  (ring: Ring, { path, body }: Kind) =>
  (client: Client, n: number) =>
    client.post(`${ring.path}/${path}`, body(n))

const refusals = (answers: readonly Answer[]): string[] =>
  answers.filter(({ status }) => status === 400).map(({ body }) => body.error.message)

for (const kind of kinds) {
  const { table, most, named, fill, counted = 'true' } = kind
  test(`caps of kinds: of 20 callers at once as many make ${table} as there is room for, and a deletion makes room`, async (t) => {
    const ring = await arena.ring()
    const { db } = arena.world()
    await ring.owner.get(`${ring.path}/calendar/calendars`)
    await db.query(fill, [ring.id, most - 3])
    const answers = await atOnce(20, ring.owners, create(ring, kind))
    t.deepEqual(tally(answers), { 201: 3, 400: 17 })
    for (const message of refusals(answers)) t.regex(message, named)
    const { rows } = await db.query(`select count(*)::integer as count from ${table} where workspace_id = $1 and ${counted}`, [ring.id])
    t.is(rows[0].count, most)
    const { id } = answers.find(({ status }) => status === 201)?.data ?? {}
    t.true((await ring.owner.delete(`${ring.path}/${kind.path}/${id}`)).status < 300)
    t.is((await create(ring, kind)(ring.owner, 50)).status, 201)
  })
}

test('caps of kinds: the calendars that Kontor makes do not count', async (t) => {
  const ring = await arena.ring()
  const { fill = '' } = kinds.find(({ table }) => table === 'calendars') ?? {}
  await arena.world().db.query(fill, [ring.id, 200])
  const listed = await ring.owner.get(`${ring.path}/calendar/calendars`)
  t.is(listed.data.length, 202)
})
