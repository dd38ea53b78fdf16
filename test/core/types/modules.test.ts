import test from 'ava'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('modules: a menu group is created once and changed after that, and the response tells which', async (t) => {
  const w = await start()
  const { org } = w
  const at = `${org.path}/modules`
  t.deepEqual((await org.owner.get(at)).data, [])
  const sales = { slug: 'sales', name: 'Sales', glyph: 'tag', category: 'work', position: 2.5 }
  const made = await org.owner.post(at, sales)
  t.is(made.status, 201)
  t.deepEqual(made.data, sales)
  const bare = await org.owner.post(at, { slug: 'a-1_b', name: 'A' })
  t.is(bare.status, 201)
  t.deepEqual(bare.data, { slug: 'a-1_b', name: 'A', glyph: '', category: '', position: 0 })
  const renamed = await org.owner.post(at, { slug: 'sales', name: 'Selling', position: -1 })
  t.is(renamed.status, 200)
  t.deepEqual(renamed.data, { ...sales, name: 'Selling', position: -1 })
  t.deepEqual((await org.owner.get(at)).data, [renamed.data, bare.data])
  const cleared = await org.owner.post(at, { slug: 'sales', name: 'Selling', glyph: null, category: null, position: null })
  t.deepEqual(cleared.data, { slug: 'sales', name: 'Selling', glyph: '', category: '', position: 0 })
  t.deepEqual((await org.owner.get(at)).data, [bare.data, cleared.data])
  t.is((await org.owner.delete(`${at}/sales`)).status, 204)
  t.is((await org.owner.delete(`${at}/sales`)).status, 404)
  t.is((await org.owner.delete(`${at}/No%20such`)).status, 404)
  t.deepEqual((await org.owner.get(at)).data, [bare.data])
})

const refused: readonly [object, string][] = [
  [{ name: 'A' }, 'slug is required'],
  [{ slug: '', name: 'A' }, 'slug must be 1 to 32 lowercase letters, digits, hyphens and underscores'],
  [{ slug: 'Sales', name: 'A' }, 'slug must be 1 to 32 lowercase letters, digits, hyphens and underscores'],
  [{ slug: 's'.repeat(33), name: 'A' }, 'slug must be 1 to 32 lowercase letters, digits, hyphens and underscores'],
  [{ slug: 'a' }, 'name is required'],
  [{ slug: 'a', name: '' }, 'name must be a name of 1 to 100 characters in one line'],
  [{ slug: 'a', name: 'n'.repeat(101) }, 'name must have at most 100 characters'],
  [{ slug: 'a', name: 'A', glyph: 'g'.repeat(33) }, 'glyph must have at most 32 characters'],
  [{ slug: 'a', name: 'A', category: 'c'.repeat(33) }, 'category must have at most 32 characters'],
  [{ slug: 'a', name: 'A', position: '1' }, 'position must be a number'],
]
for (const [body, message] of refused) {
  test(`modules: a menu group is refused: ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const w = await start()
    const answer = await w.org.owner.post(`${w.org.path}/modules`, body)
    t.is(answer.status, 400)
    t.is(answer.body.error.message, message)
  })
}

test('modules: every member reads menu groups, holders of org:update write them', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const at = `${org.path}/modules`
  const member = await createMember(w, org)
  const editor = await createMember(w, org, [{ effect: 'allow', actions: ['org:update'] }])
  t.is((await member.client.post(at, { slug: 'a', name: 'A' })).status, 403)
  t.is((await editor.client.post(at, { slug: 'a', name: 'A' })).status, 201)
  t.is((await member.client.get(at)).data.length, 1)
  t.is((await member.client.delete(`${at}/a`)).status, 403)
  t.is((await (await createOrg(w)).owner.get(at)).status, 404)
  t.is((await editor.client.delete(`${at}/a`)).status, 204)
})

test('modules: one of twenty equal calls at once creates and the others change', async (t) => {
  const w = await start()
  const { org } = w
  const calls = Array.from({ length: 20 }, () => org.owner.post(`${org.path}/modules`, { slug: 'a', name: 'A' }))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  t.deepEqual(statuses.sort(), [...Array.from({ length: 19 }, () => 200), 201])
})
