import test from 'ava'
import { addFlowVersion } from '#test/api/http/rows.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('words: an unknown record type is answered with the nearest one, or with how to create one', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const messageFor = async (type: string) => (await owner.get(`${path}/records/${type}`)).body.error.message
  t.is(await messageFor('acounts'), 'There is no record type acounts; did you mean accounts?')
  t.is(await messageFor('shipping_labels'), 'There is no record type shipping_labels; POST …/types makes one')
})

test('words: a code in place of an account’s id is answered with what is expected', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const lines = [
    { account_id: '1000', debit: '1' },
    { account_id: '2000', credit: '1' },
  ]
  const { status, body } = await owner.post(`${path}/accounting/entries`, { lines })
  t.is(status, 400)
  t.regex(body.error.message, /^lines\[0\]\.account_id must be a valid uuid: the id of an accounts record, not its code;/)
})

test('words: a function that is written as a module is answered with how to write one', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const { status, body } = await owner.post(`${path}/functions`, { name: 'Module', source: 'export default (input) => input' })
  t.is(status, 400)
  t.regex(body.error.message, /a function is a script and no module: define `async function handler\(input\) \{ … \}` at top level/)
})

test('words: PUT of a flow without a name keeps the name', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const { data } = await owner.post(`${path}/flows`, { name: 'Nightly', nodes: [], edges: [] })
  const put = await owner.put(`${path}/flows/${data.id}`, { nodes: [], edges: [], description: 'x' })
  t.is(put.status, 200, put.text)
  t.like(put.data, { name: 'Nightly', description: 'x' })
})

test('words: an unknown setting of a block is answered with the nearest one, unless the stored flow holds it', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const node = (config: object) => ({ id: 'wait', type: 'logic.wait', config })
  const trigger = { id: 'start', type: 'trigger.manual' }
  const edges = [{ source: 'start', target: 'wait' }]
  const refused = await owner.post(`${path}/flows`, { name: 'Later', nodes: [trigger, node({ minute: 5 })], edges })
  t.is(refused.status, 400)
  t.is(refused.body.error.message, 'nodes[1].config.minute is no key of a logic.wait block; did you mean minutes?')
  const { data: made, text } = await owner.post(`${path}/flows`, { name: 'Later', nodes: [trigger, node({ minutes: 5 })], edges })
  t.truthy(made?.id, text)
  await addFlowVersion(w.db, made.id, '"minutes"', '"minute"')
  const read = (await owner.get(`${path}/flows/${made.id}`)).data
  t.deepEqual(read.nodes[1].config, { minute: 5 })
  t.is((await owner.put(`${path}/flows/${made.id}`, read)).status, 200)
  t.is((await owner.put(`${path}/flows/${made.id}`, { nodes: [trigger, node({ minute: 6 })], edges })).status, 400)
})

test('words: a space is addressed by its key or its id', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const made = await owner.post(`${path}/drive/buckets`, { key: 'plans', name: 'Plans', type: 'custom' })
  t.is(made.status, 201, made.text)
  const at = `${path}/drive/buckets/plans`
  t.is((await owner.post(`${at}/folders`, { key: 'old/' })).status, 201)
  for (const below of ['objects', 'shares']) t.is((await owner.get(`${at}/${below}`)).status, 200, below)
  t.is((await owner.delete(at)).status, 204)
})
