import test from 'ava'
import { addFlowVersions, addLongSteps, addLongSubmissions } from '#test/api/lists/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { made } from '#test/support/made.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** One byte of the database that takes six as JSON. */
const control = '\u0001'

const most = 10_000_000

test('long pages: submissions are listed in pages of at most 10 MB', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const form = await made(org.owner.post(`${org.path}/forms`, { key: 'contact', name: 'Contact', fields: [] }))
  await addLongSubmissions(w.db, org.id, form.id)
  const seen = new Set<string>()
  let cursor = ''
  do {
    const answer = await org.owner.get(`${org.path}/forms/${form.id}/submissions?limit=200${cursor}`)
    t.is(answer.status, 200)
    t.true(answer.text.length <= most)
    for (const { id } of answer.data.submissions) seen.add(id)
    cursor = answer.data.next_cursor === null ? '' : `&cursor=${answer.data.next_cursor}`
  } while (cursor !== '')
  t.is(seen.size, 25)
})

test('long pages: versions of a flow are paged by limit, and refused without it above 10 MB', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const nodes = [
    { id: 'start', type: 'trigger.manual' },
    { id: 'tell', type: 'action.notify', config: { title: 'x'.repeat(250_000) } },
  ]
  const flow = await made(org.owner.post(`${org.path}/flows`, { name: 'Large', nodes }))
  await addFlowVersions(w.db, flow.id, 49)
  const versions = `${org.path}/flows/${flow.id}/versions`
  const refused = await org.owner.get(versions)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /10 MB.*limit/)
  const first = await org.owner.get(`${versions}?limit=200`)
  t.true(first.text.length <= most)
  const next = new URL(/^<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '')
  const second = await org.owner.get(next.pathname + next.search)
  t.is(second.headers.get('link'), null)
  const numbers = [...first.data, ...second.data].map(({ version }: { version: number }) => version)
  t.deepEqual(
    numbers,
    Array.from({ length: 49 }, (_, index) => 49 - index),
  )
})

test('long pages: the view of a run omits outputs beyond 8 MB and marks their steps', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const nodes = [{ id: 'start', type: 'trigger.manual' }]
  const flow = await made(org.owner.post(`${org.path}/flows`, { name: 'Steps', nodes }))
  t.is((await org.owner.post(`${org.path}/flows/${flow.id}/run`, {})).status, 202)
  await w.drain()
  const [run] = (await org.owner.get(`${org.path}/flows/${flow.id}/runs`)).data
  await addLongSteps(w.db, org.id, run.id)
  const answer = await org.owner.get(`${org.path}/flows/${flow.id}/runs/${run.id}`)
  t.is(answer.status, 200)
  t.true(answer.text.length <= most)
  const steps = answer.data.steps as readonly { output: unknown; output_cut?: boolean }[]
  t.is(steps.length, 200)
  t.true(steps.filter(({ output_cut }) => output_cut !== true).length > 100)
  t.deepEqual(steps.at(-1)?.output, '')
  t.true(steps.at(-1)?.output_cut)
})

test('long pages: records are listed up to 10 MB of JSON: pages of a plain list end early, and a search names limit', async (t) => {
  const org = await createOrg(await shared())
  await made(org.owner.post(`${org.path}/types`, { key: 'notes', label: 'Notes' }))
  await made(org.owner.post(`${org.path}/fields`, { entity_type: 'notes', key: 'text', label: 'Text', type: 'text' }))
  const records = `${org.path}/records/notes`
  for (let n = 0; n < 30; n++) await made(org.owner.post(records, { values: { text: control.repeat(95_000) } }))
  const page = await org.owner.get(`${records}?limit=200`)
  t.true(page.text.length <= most)
  t.true(page.data.records.length > 10)
  const rest = await org.owner.get(`${records}?limit=200&cursor=${page.data.next_cursor}`)
  t.is(page.data.records.length + rest.data.records.length, 30)
  const refused = await org.owner.get(`${records}?limit=200&page=1`)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /limit/)
  t.is((await org.owner.get(`${records}?limit=10&page=1`)).status, 200)
  const audit = await org.owner.get(`${org.path}/audit?limit=200`)
  t.is(audit.status, 400)
  t.regex(audit.body.error.message, /limit/)
})
