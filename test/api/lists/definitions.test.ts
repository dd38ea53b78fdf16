import test from 'ava'
import { createMember, createOrg } from '#test/support/factories.ts'
import { linkedPages } from '#test/support/linked-pages.ts'
import { made } from '#test/support/made.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('definitions: types: the list is complete without limit and paged with it, also past a type that is deleted meanwhile', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  for (const key of ['aaa', 'bbb', 'ccc', 'ddd', 'eee']) await made(org.owner.post(`${org.path}/types`, { key, label: key }))
  const list = `${org.path}/types`
  const whole = (await org.owner.get(list)).data
  const pages = await linkedPages(org.owner, `${list}?limit=3`)
  t.true(pages.every((page) => page.length <= 3))
  t.deepEqual(pages.flat(), whole)
  const seer = await createMember(w, org, [{ effect: 'allow', actions: ['types:read'], resources: ['aaa', 'ccc', 'eee'] }])
  const seen = await linkedPages<{ key: string }>(seer.client, `${list}?limit=2`, async (page) => {
    if (page.at(-1)?.key === 'ccc') t.is((await org.owner.delete(`${list}/ccc`)).status, 204)
  })
  t.deepEqual(
    seen.map((page) => page.map(({ key }) => key)),
    [['aaa', 'ccc'], ['eee']],
  )
  for (const query of ['limit=0', 'limit=201', 'limit=2&cursor=abc']) t.is((await org.owner.get(`${list}?${query}`)).status, 400, query)
})

test('definitions: fields: the error of a list above 10 MB names limit, and its pages are smaller', async (t) => {
  const org = await createOrg(await shared())
  await made(org.owner.post(`${org.path}/types`, { key: 'wide', label: 'Wide' }))
  const list = `${org.path}/fields?entity_type=wide`
  // 200 letters of four bytes each: 500 options are 400 KB.
  const options = Array.from({ length: 500 }, (_, n) => String(n).padStart(4, '0') + '𝔸'.repeat(98))
  for (let n = 0; n < 60; n++) {
    await made(org.owner.post(`${org.path}/fields`, { entity_type: 'wide', key: `f${n}x`, label: 'F', type: 'select', rules: { options } }))
  }
  const whole = await org.owner.get(list)
  t.is(whole.status, 400)
  t.regex(whole.text, /more than 10 MB.*limit/)
  const pages = await linkedPages<{ key: string }>(org.owner, `${list}&limit=200`)
  t.deepEqual(
    pages.flat().map(({ key }) => key),
    Array.from({ length: 60 }, (_, n) => `f${n}x`),
  )
  for (const page of pages) t.true(Buffer.byteLength(JSON.stringify(page)) <= 10_000_000)
})

test('definitions: readable types: they hold the fields that the caller may read, without a permission on definitions', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  for (const key of ['aaa', 'bbb', 'ccc']) await made(org.owner.post(`${org.path}/types`, { key, label: key }))
  for (const [key, type, more] of [
    ['name', 'string', { required: true }],
    ['stage', 'select', { required: true, rules: { options: ['new', 'old'], default: 'new' } }],
    ['secret', 'string', {}],
    ['shy', 'string', {}],
  ] as const)
    await made(org.owner.post(`${org.path}/fields`, { entity_type: 'aaa', key, label: key, type, ...more }))
  const whole = (await org.owner.get(`${org.path}/records`)).data
  t.deepEqual((await linkedPages(org.owner, `${org.path}/records?limit=2`)).flat(), whole)
  const reader = await createMember(w, org, [
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['aaa'],
      condition: { 'resource.name': { eq: 'x' } },
      fields: { deny: ['secret', 'shy'] },
    },
    {
      effect: 'allow',
      actions: ['records:read'],
      resources: ['aaa'],
      condition: { 'resource.name': { ne: 'x' } },
      fields: { deny: ['secret'] },
    },
  ])
  const text = { type: 'string', options: [], computed: false, needed: false, required: false, sometimes_hidden: false }
  t.deepEqual((await reader.client.get(`${org.path}/records`)).data, [
    {
      key: 'aaa',
      label: 'aaa',
      fields: [
        { ...text, key: 'name', label: 'name', needed: true, required: true },
        { ...text, key: 'stage', label: 'stage', type: 'select', options: ['new', 'old'], required: true },
        { ...text, key: 'shy', label: 'shy', sometimes_hidden: true },
      ],
    },
  ])
})
