import test from 'ava'
import { createRole, createService } from '#test/support/factories.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('records guard: a creation with an outdated role stores nothing once another process has changed the role', async (t) => {
  const w = await shared()
  const second = await startSecondApi(t, w)
  const allow = { effect: 'allow', actions: ['records:create', 'records:read'], resources: ['invoices'] }
  const { client, id } = await createService(w, w.org, [allow])
  const there = second.as(client.token)
  const records = `${w.org.path}/records/invoices`
  const countOf = async () => (await w.org.owner.get(`${records}?offset=0`)).data.total
  for (let round = 0; round < 20; round++) {
    t.is((await there.post(records, { values: { notes: `${round}` } })).status, 201)
    const before = await countOf()
    const denial = await createRole(w, w.org, [{ effect: 'deny', actions: ['records:create'] }])
    t.is((await w.org.owner.post(`${w.org.path}/iam/groups/${denial}/members`, { user_id: id })).status, 204)
    const refused = await there.post(records, { values: { notes: 'too late' } })
    t.deepEqual([refused.status, await countOf()], [403, before])
    t.is((await w.org.owner.delete(`${w.org.path}/iam/groups/${denial}`)).status, 204)
  }
})

test('records guard: creations of one process are checked by the type that another process has just changed', async (t) => {
  const w = await shared()
  const second = await startSecondApi(t, w)
  const there = second.as(w.org.owner.token)
  const { data: type } = await w.org.owner.post(`${w.org.path}/types`, { key: 'parts', label: 'Parts' })
  const { data: field } = await w.org.owner.post(`${w.org.path}/fields`, {
    entity_type: type.key,
    key: 'code',
    label: 'Code',
    type: 'string',
  })
  const records = `${w.org.path}/records/${type.key}`
  for (let round = 1; round <= 10; round++) {
    t.is((await w.org.owner.patch(`${w.org.path}/fields/${field.id}`, { rules: { min_len: round } })).status, 200)
    const short = await there.post(records, { values: { code: 'x'.repeat(round - 1) || null } })
    t.is(short.status, round === 1 ? 201 : 400, short.text)
    t.is((await there.post(records, { values: { code: 'x'.repeat(round) } })).status, 201)
    t.is((await w.org.owner.delete(`${records}/${(await w.org.owner.get(`${records}?limit=1`)).data.records[0].id}`)).status, 204)
  }
})
