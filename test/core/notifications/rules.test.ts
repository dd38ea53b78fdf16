import { randomUUID } from 'node:crypto'
import test from 'ava'
import { inboxOf, locationsOf, makeRule, ruleInput, rulesOf } from '#test/core/notifications/make-rule.ts'
import { createMember } from '#test/support/factories.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const newWorkspace = shareWorld(test)

test('notifications rules: a rule is created, read, changed, listed and deleted', async (t) => {
  const w = await newWorkspace()
  const { owner } = w.org
  const made = await owner.post(rulesOf(w), ruleInput)
  t.is(made.status, 201, made.text)
  t.like(made.data, { ...ruleInput, audience: 'all_members', enabled: true })
  t.deepEqual((await owner.get(`${rulesOf(w)}/${made.data.id}`)).data, made.data)
  const changed = await owner.put(`${rulesOf(w)}/${made.data.id}`, { enabled: false, title: 'Gone', event: 'deleted' })
  t.is(changed.status, 200, changed.text)
  t.like(changed.data, { ...ruleInput, title: 'Gone', event: 'deleted', enabled: false })
  t.is((await owner.put(`${rulesOf(w)}/${made.data.id}`, {})).status, 200)
  const second = await makeRule(w)
  t.deepEqual(
    (await owner.get(rulesOf(w))).data.map(({ id }: { id: string }) => id),
    [made.data.id, second],
  )
  t.is((await owner.delete(`${rulesOf(w)}/${made.data.id}`)).status, 204)
  for (const id of [made.data.id, randomUUID(), 'nonsense']) {
    t.is((await owner.get(`${rulesOf(w)}/${id}`)).status, 404)
    t.is((await owner.put(`${rulesOf(w)}/${id}`, { name: 'x' })).status, 404)
    t.is((await owner.delete(`${rulesOf(w)}/${id}`)).status, 404)
  }
})

test('notifications rules: a bad value of a rule is refused with 400 that names the field', async (t) => {
  const w = await newWorkspace()
  const id = await makeRule(w)
  const wrong: [object, string][] = [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(121) }, 'name'],
    [{ name: null }, 'name'],
    [{ object_type: 'nothing' }, 'object_type'],
    [{ event: 'changed' }, 'event'],
    [{ title: '' }, 'title'],
    [{ title: 'x'.repeat(201) }, 'title'],
    [{ audience: 'admins' }, 'audience'],
  ]
  for (const [change, field] of wrong) {
    for (const answer of [
      await w.org.owner.post(rulesOf(w), { ...ruleInput, ...change }),
      await w.org.owner.put(`${rulesOf(w)}/${id}`, change),
    ]) {
      t.is(answer.status, 400, answer.text)
      t.true(answer.body.error.message.startsWith(field), answer.text)
    }
  }
  for (const field of ['name', 'object_type', 'event', 'title']) {
    const answer = await w.org.owner.post(rulesOf(w), { ...ruleInput, [field]: undefined })
    t.is(answer.status, 400)
    t.is(answer.body.error.message, `${field} is required`)
  }
  for (const enabled of ['no', 'false', 0, null, []]) {
    const answer = await w.org.owner.put(`${rulesOf(w)}/${id}`, { enabled })
    t.is(answer.status, 400)
    t.is(answer.body.error.message, 'enabled must be a boolean')
  }
  t.is((await w.org.owner.post(rulesOf(w), { ...ruleInput, name: '😀'.repeat(120), title: '😀'.repeat(200) })).status, 201)
})

test('notifications rules: each route of rules needs its own permission', async (t) => {
  const w = await newWorkspace()
  const id = await makeRule(w)
  const asks = {
    'notifications:read': [
      ['GET', rulesOf(w)],
      ['GET', `${rulesOf(w)}/${id}`],
    ],
    'notifications:create': [
      ['POST', rulesOf(w)],
      ['PUT', `${rulesOf(w)}/${id}`],
    ],
    'notifications:delete': [['DELETE', `${rulesOf(w)}/${randomUUID()}`]],
  } as const
  for (const held of Object.keys(asks)) {
    const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: [held] }])
    for (const [permission, requests] of Object.entries(asks)) {
      for (const [method, path] of requests) {
        const { status } = await client.send(method, path, method === 'GET' || method === 'DELETE' ? undefined : ruleInput)
        t.is(status === 403, permission !== held, `${held}: ${method} ${path} ${status}`)
      }
    }
  }
})

test('notifications rules: a rule applies to changes while it is enabled', async (t) => {
  const w = await newWorkspace()
  const create = () => w.org.owner.post(locationsOf(w), { values: { name: 'x' } })
  const count = async () => {
    await w.drain()
    return (await w.org.owner.get(`${inboxOf(w)}/unread-count`)).data.count
  }
  await create()
  const id = await makeRule(w)
  t.is(await count(), 0)
  await create()
  t.is(await count(), 1)
  await w.org.owner.put(`${rulesOf(w)}/${id}`, { enabled: false })
  await create()
  t.is(await count(), 1)
  await w.org.owner.put(`${rulesOf(w)}/${id}`, { enabled: true, object_type: 'invoices' })
  await create()
  t.is(await count(), 1)
  await w.org.owner.put(`${rulesOf(w)}/${id}`, { object_type: 'locations' })
  await create()
  t.is(await count(), 2)
  await w.org.owner.delete(`${rulesOf(w)}/${id}`)
  await create()
  t.is(await count(), 2)
  t.is(await countRows(w.db, 'event_listeners', w.org.id), 0)
})

test('notifications rules: a rule on a deleted type is deleted', async (t) => {
  const w = await newWorkspace()
  await w.org.owner.post(`${w.org.path}/types`, { key: 'deals', label: 'Deals' })
  const id = await makeRule(w, { object_type: 'deals' })
  t.is((await w.org.owner.delete(`${w.org.path}/types/deals`)).status, 204)
  t.is((await w.org.owner.get(`${rulesOf(w)}/${id}`)).status, 404)
  t.is(await countRows(w.db, 'event_listeners', w.org.id), 0)
})

test('notifications rules: permissions that are limited to a record type hold for its rules alone, as simulate says', async (t) => {
  const w = await newWorkspace()
  const rules = rulesOf(w)
  const actions = ['notifications:read', 'notifications:create', 'notifications:delete']
  const { client, id } = await createMember(w, w.org, [{ effect: 'allow', actions, resources: ['locations'] }])
  const simulated = async (action: string, resource: string) =>
    (await w.org.owner.post(`${w.org.path}/iam/simulate`, { user_id: id, action, resource })).data.allowed
  const input = { ...ruleInput, object_type: 'locations' }
  const made = await client.post(rules, input)
  t.is(made.status, 201, made.text)
  t.true(await simulated('notifications:create', 'locations'))
  t.is((await client.post(rules, { ...input, object_type: 'invoices' })).status, 403)
  t.false(await simulated('notifications:create', 'invoices'))
  const { data: other } = await w.org.owner.post(rules, { ...input, object_type: 'invoices' })
  t.deepEqual((await client.get(rules)).data, [made.data])
  t.is((await client.get(`${rules}/${other.id}`)).status, 403)
  t.is((await client.put(`${rules}/${other.id}`, { title: 'x' })).status, 403)
  t.is((await client.delete(`${rules}/${other.id}`)).status, 403)
  t.is((await client.put(`${rules}/${made.data.id}`, { title: 'x', object_type: 'locations' })).status, 200)
  t.is((await client.put(`${rules}/${made.data.id}`, { object_type: 'invoices' })).status, 403)
  t.is((await client.delete(`${rules}/${made.data.id}`)).status, 204)
})

test('notifications rules: a record type has at most 100 rules, also when a rule moves to it', async (t) => {
  const w = await newWorkspace()
  const { org } = w
  await org.owner.post(`${org.path}/types`, { key: 'crowded', label: 'Crowded' })
  const input = { ...ruleInput, object_type: 'crowded' }
  const made = await Promise.all(Array.from({ length: 104 }, () => org.owner.post(rulesOf(w), input)))
  t.is(made.filter(({ status }) => status === 201).length, 100, 'callers at once stay within the limit together')
  const refusal = 'object_type has 100 notification rules, the most that a record type can have; delete some first'
  for (const { body } of made.filter(({ status }) => status !== 201)) t.is(body.error.message, refusal)
  const other = await org.owner.post(rulesOf(w), ruleInput)
  t.is(other.status, 201, 'another type')
  const moved = await org.owner.put(`${rulesOf(w)}/${other.data.id}`, { ...ruleInput, object_type: 'crowded' })
  t.deepEqual([moved.status, moved.body.error.message], [400, refusal])
  const [first] = made
  t.is((await org.owner.put(`${rulesOf(w)}/${first?.data.id}`, { ...input, title: 'Other' })).status, 200)
  t.is((await org.owner.delete(`${rulesOf(w)}/${first?.data.id}`)).status, 204)
  t.is((await org.owner.put(`${rulesOf(w)}/${other.data.id}`, { ...ruleInput, object_type: 'crowded' })).status, 200)
})
