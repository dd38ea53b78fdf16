import test from 'ava'
import { addForms } from '#test/api/lists/rows.ts'
import { createMember, createOrg, type Org } from '#test/support/factories.ts'
import { linkedPages } from '#test/support/linked-pages.ts'
import { made } from '#test/support/made.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

const flow = (size: number) => ({
  name: 'Large',
  nodes: [
    { id: 'start', type: 'trigger.manual' },
    { id: 'tell', type: 'action.notify', config: { title: 'x'.repeat(size) } },
  ],
  edges: [{ source: 'start', target: 'tell' }],
})

/** One byte of the database that takes six as JSON. */
const control = '\u0001'

const source = 'const handler = () => 1'
const form = (n: number) => ({ key: `form-${n}`, name: `Form ${n}`, fields: [] })
const template = (n: number) => ({ name: `Template ${n}`, subject: 'Hello', body_text: 'x'.repeat(1_000), body_html: '<p>x</p>' })

const kinds: readonly [string, (org: Org, n: number) => Promise<unknown>, readonly string[]][] = [
  ['flows', (org) => made(org.owner.post(`${org.path}/flows`, flow(10))), ['nodes', 'edges']],
  ['functions', (org, n) => made(org.owner.post(`${org.path}/functions`, { name: `f${n}`, source })), ['source']],
  ['forms', (org, n) => made(org.owner.post(`${org.path}/forms`, form(n))), []],
  ['messages/templates', (org, n) => made(org.owner.post(`${org.path}/messages/templates`, template(n))), ['body_text', 'body_html']],
]

for (const [path, make, leftOut] of kinds) {
  test(`lists: ${path}: the list is complete without limit, paged with it, and omits long values`, async (t) => {
    const org = await createOrg(await shared())
    for (let n = 0; n < 5; n++) await make(org, n)
    const list = `${org.path}/${path}`
    const whole = await org.owner.get(list)
    t.is(whole.data.length, 5)
    t.is(whole.headers.get('link'), null)
    for (const item of whole.data) for (const key of leftOut) t.false(key in item, key)
    const single = (await org.owner.get(`${list}/${whole.data[0].id}`)).data
    for (const key of leftOut) t.true(key in single, key)
    const pages = await linkedPages<{ id: string }>(org.owner, `${list}?limit=2`)
    t.deepEqual(
      pages.map((page) => page.length),
      [2, 2, 1],
    )
    t.deepEqual(pages.flat(), whole.data)
    for (const limit of [0, 201]) t.is((await org.owner.get(`${list}?limit=${limit}`)).status, 400)
    t.is((await org.owner.get(`${list}?limit=2&cursor=abc`)).status, 400)
  })
}

test('lists: a list of flows contains the trigger and the problems of each', async (t) => {
  const org = await createOrg(await shared())
  const { nodes: _, edges: __, ...rest } = (await org.owner.post(`${org.path}/flows`, flow(10))).data
  await org.owner.post(`${org.path}/flows`, { name: 'Empty' })
  const { data } = await org.owner.get(`${org.path}/flows`)
  t.deepEqual(data[0], rest)
  t.deepEqual(data[1].problems, [{ node_id: null, message: 'the flow has no blocks' }])
})

test('lists: a list of forms above 10 MB is refused without limit, and paged by at most 10 MB with it', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  await addForms(w.db, org.id, 'x', 2_000_000, 6)
  const list = `${org.path}/forms`
  const refused = await org.owner.get(list)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /10 MB.*limit/)
  const pages = await linkedPages<{ id: string }>(org.owner, `${list}?limit=200`)
  t.deepEqual(
    pages.map((page) => page.length),
    [4, 2],
  )

  const other = await createOrg(w)
  await addForms(w.db, other.id, control, 1_000_000, 3)
  t.is((await other.owner.get(`${other.path}/forms`)).status, 400)
  t.deepEqual(
    (await linkedPages<{ id: string }>(other.owner, `${other.path}/forms?limit=3`)).map((page) => page.length),
    [1, 1, 1],
  )

  const alone = await createOrg(w)
  await addForms(w.db, alone.id, 'x', 11_000_000, 1)
  t.is((await alone.owner.get(`${alone.path}/forms`)).data.length, 1)
})

test('lists: a page is full, and has a next one, whatever lies between and after its items', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  for (let n = 0; n < 12; n++) await made(org.owner.post(`${org.path}/forms`, form(n)))
  const shown = ['form-0', 'form-4', 'form-9', 'form-10']
  const { client } = await createMember(w, org, [{ effect: 'allow', actions: ['forms:manage'], resources: shown }])
  const pagesOf = async (limit: number) =>
    (await linkedPages<{ key: string }>(client, `${org.path}/forms?limit=${limit}`)).map((page) => page.map(({ key }) => key))
  t.deepEqual(await pagesOf(3), [shown.slice(0, 3), shown.slice(3)])
  t.deepEqual(await pagesOf(4), [shown])
  t.deepEqual(
    await pagesOf(1),
    shown.map((key) => [key]),
  )
})

test('lists: items that a caller may not see make no empty pages', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  for (let n = 0; n < 5; n++) await made(org.owner.post(`${org.path}/forms`, form(n)))
  const { client } = await createMember(w, org, [{ effect: 'allow', actions: ['forms:manage'], resources: ['form-4'] }])
  t.deepEqual(
    (await linkedPages<{ id: string }>(client, `${org.path}/forms?limit=2`)).map((page) => page.length),
    [1],
  )
})
