import test from 'ava'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

async function typeWith(w: World, fields: readonly object[]): Promise<Record<string, string>> {
  await w.org.owner.post(`${w.org.path}/types`, { key: 'deals', label: 'Deals' })
  const ids: Record<string, string> = {}
  for (const field of fields as { key: string }[]) {
    const made = await w.org.owner.post(`${w.org.path}/fields`, { entity_type: 'deals', label: field.key, ...field })
    ids[field.key] = made.data.id
  }
  return ids
}

const deals = (w: World) => `${w.org.path}/records/deals`

const sum = [
  { key: 'price', type: 'number' },
  { key: 'count', type: 'number' },
  { key: 'total', type: 'currency' },
  { key: 'label', type: 'string' },
]

test('computed: a computed field is computed on create, update and import, and cannot be written', async (t) => {
  const w = await shared()
  const ids = await typeWith(w, sum)
  const set = await w.org.owner.put(`${w.org.path}/fields/${ids.total}/formula`, { formula: 'price * count' })
  t.is(set.status, 200, set.text)
  t.is(set.data.rules.formula, 'price * count')
  t.is((await w.org.owner.put(`${w.org.path}/fields/${ids.label}/formula`, { formula: 'IF(total > 100, "big", "small")' })).status, 200)
  const made = await w.org.owner.post(deals(w), { values: { price: '0.1', count: 3, total: 999 } })
  t.like(made.data.values, { total: { amount: 0.3, code: 'USD' }, label: 'small' })
  await w.org.owner.put(`${deals(w)}/${made.data.id}/values`, { values: { count: 5000 } })
  t.like((await w.org.owner.get(`${deals(w)}/${made.data.id}`)).data.values, { total: { amount: 500, code: 'USD' }, label: 'big' })
  await w.org.owner.post(`${deals(w)}/import`, 'price,count,label\n2,2,ignored\n', { 'content-type': 'text/csv' })
  t.like((await w.org.owner.get(deals(w))).data.records[0].values, { total: { amount: 4, code: 'USD' }, label: 'small' })
})

test('computed: existing records are computed shortly after the formula is set, and keep their values when it is removed', async (t) => {
  const w = await shared()
  const ids = await typeWith(w, sum)
  for (let price = 1; price <= 5; price++) await w.org.owner.post(deals(w), { values: { price, count: 2 } })
  await w.org.owner.put(`${w.org.path}/fields/${ids.total}/formula`, { formula: 'price * count' })
  await w.drain()
  const totals = async () =>
    (await w.org.owner.get(deals(w))).data.records.map(
      ({ values }: { values: { total: { amount: number } | null } }) => values.total?.amount,
    )
  t.deepEqual(await totals(), [10, 8, 6, 4, 2])
  t.is((await w.org.owner.delete(`${w.org.path}/fields/${ids.total}/formula`)).status, 204)
  t.deepEqual(await totals(), [10, 8, 6, 4, 2])
})

test('computed: a bad formula, a cycle and the deletion of a used field are refused', async (t) => {
  const w = await shared()
  const ids = await typeWith(w, sum)
  const formula = (key: string, text: string) => w.org.owner.put(`${w.org.path}/fields/${ids[key]}/formula`, { formula: text })
  t.is((await formula('total', 'price *')).status, 400)
  t.is((await formula('total', 'nothing + 1')).status, 400)
  t.is((await formula('total', 'price * count')).status, 200)
  t.regex((await formula('price', 'total / 2')).body.error.message, /total/)
  t.is((await w.org.owner.delete(`${w.org.path}/fields/${ids.price}`)).status, 400)
  t.is((await w.org.owner.delete(`${w.org.path}/fields/${ids.total}/formula`)).status, 204)
  t.is((await w.org.owner.delete(`${w.org.path}/fields/${ids.price}`)).status, 204)
  t.is((await w.org.owner.put(`${w.org.path}/fields/${ids.total}/autogen`, { pattern: '{seq}' })).status, 400)
})

test('computed: a caller that may not read a formula’s fields does not see its result', async (t) => {
  const w = await shared()
  const ids = await typeWith(w, sum)
  await w.org.owner.put(`${w.org.path}/fields/${ids.total}/formula`, { formula: 'price * count' })
  await w.org.owner.put(`${w.org.path}/fields/${ids.label}/formula`, { formula: 'total & ""' })
  await w.org.owner.post(deals(w), { values: { price: 1, count: 1 } })
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['records:read'], fields: { deny: ['price'] } }])
  t.deepEqual(Object.keys((await client.get(deals(w))).data.records[0].values), ['count'])
  t.is((await client.get(`${deals(w)}?sort=label`)).status, 400)
})

test('computed: a field whose key a formula uses as text is refused until the text is quoted', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const ids = await typeWith(w, [
    { key: 'stage', type: 'string' },
    { key: 'label', type: 'string' },
  ])
  const formula = (text: string) => owner.put(`${path}/fields/${ids.label}/formula`, { formula: text })
  const field = (key: string) => owner.post(`${path}/fields`, { entity_type: 'deals', key, label: key, type: 'string' })
  t.is((await formula('IF(stage=won, "yes", IF(true, "no"))')).status, 200)
  const label = async () => (await owner.post(deals(w), { values: { stage: 'won' } })).data.values.label
  t.is(await label(), 'yes')
  for (const key of ['won', 'true']) {
    const refused = await field(key)
    t.is(refused.status, 400)
    t.regex(refused.body.error.message, /^key must not be .* formula of label/)
  }
  t.is((await formula('IF(stage="won", "yes", "no")')).status, 200)
  t.is((await field('won')).status, 201)
  t.is(await label(), 'yes')
})

test('computed: the formulas of a type have at most 100,000 characters together', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  const keys = Array.from({ length: 26 }, (_, index) => `n${index}`)
  const ids = await typeWith(
    w,
    keys.map((key) => ({ key, type: 'number' })),
  )
  const formula = (key: string, length: number) =>
    owner.put(`${path}/fields/${ids[key]}/formula`, { formula: `1${' '.repeat(length - 1)}` })
  for (const key of keys.slice(0, 25)) t.is((await formula(key, 4_000)).status, 200)
  const refused = await formula('n25', 1)
  t.is(refused.status, 400)
  t.regex(refused.body.error.message, /at most 100000 characters together, got 100001/)
  t.is((await formula('n24', 3_999)).status, 200)
  t.is((await formula('n25', 1)).status, 200)
})
