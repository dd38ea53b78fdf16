import test from 'ava'
import { atOnce, openArena, type Ring, tally } from '#test/races/arena.ts'
import { type FilledTable, fillTable } from '#test/races/fill-table.ts'
import { countRowsWhere } from '#test/races/rows.ts'
import type { Client } from '#test/support/client.ts'
import type { Answer } from '#test/support/send-request.ts'

const arena = openArena(test)

interface Kind {
  readonly table: FilledTable
  readonly path: string
  readonly most: number
  /** Matches the message of the refusal. */
  readonly named: RegExp
  readonly body: (n: number) => object
  /** Condition of the rows that count towards the cap. */
  readonly counted?: string
}

const kinds: readonly Kind[] = [
  {
    table: 'message_templates',
    path: 'messages/templates',
    most: 1_000,
    named: /1,000 templates/,
    body: (n) => ({ name: `T${n}`, subject: 'S' }),
  },
  {
    table: 'forms',
    path: 'forms',
    most: 500,
    named: /500 forms/,
    body: (n) => ({ key: `new-${n}`, name: 'F', fields: [] }),
  },
  {
    table: 'functions',
    path: 'functions',
    most: 500,
    named: /500 functions/,
    body: (n) => ({ name: `F${n}`, source: 'const handler = () => 1' }),
  },
  {
    table: 'flows',
    path: 'flows',
    most: 500,
    named: /500 flows/,
    body: (n) => ({ name: `F${n}` }),
  },
  {
    table: 'queues',
    path: 'queues',
    most: 200,
    named: /200 queues/,
    body: (n) => ({ key: `new_${n}`, name: 'Q', stages: [{ key: 'open', label: 'Open' }] }),
  },
  {
    table: 'calendars',
    path: 'calendar/calendars',
    most: 200,
    named: /200 calendars/,
    body: (n) => ({ key: `new-${n}`, name: 'C' }),
    counted: `not is_primary and key <> 'team'`,
  },
  {
    table: 'sites',
    path: 'sites',
    most: 100,
    named: /100 websites/,
    body: (n) => ({ key: `new-${n}`, name: 'S' }),
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
  const { table, most, named, counted = 'true' } = kind
  test(`caps of kinds: 20 callers at once create as many ${table} as the cap allows, and a deletion makes room`, async (t) => {
    const ring = await arena.ring()
    const { db } = arena.world()
    await ring.owner.get(`${ring.path}/calendar/calendars`)
    await fillTable(db, table, ring.id, most - 3)
    const answers = await atOnce(20, ring.owners, create(ring, kind))
    t.deepEqual(tally(answers), { 201: 3, 400: 17 })
    for (const message of refusals(answers)) t.regex(message, named)
    t.is(await countRowsWhere(db, table, ring.id, counted), most)
    const { id } = answers.find(({ status }) => status === 201)?.data ?? {}
    t.true((await ring.owner.delete(`${ring.path}/${kind.path}/${id}`)).status < 300)
    t.is((await create(ring, kind)(ring.owner, 50)).status, 201)
  })
}

test('caps of kinds: calendars that Kontor creates do not count', async (t) => {
  const ring = await arena.ring()
  await fillTable(arena.world().db, 'calendars', ring.id, 200)
  const listed = await ring.owner.get(`${ring.path}/calendar/calendars`)
  t.is(listed.data.length, 202)
})
