import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createMember, createOrg, createRole, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('simulate: simulate returns the deciding rule with its role and its place there', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const rules = [
    { effect: 'allow', actions: ['records:read'], resources: ['invoices'], condition: { 'resource.total': { lt: 100 } } },
    { effect: 'deny', actions: ['records:*'], resources: ['invoices'], condition: { 'resource.status': { eq: 'void' } } },
    { effect: 'allow', actions: ['types:read'] },
    { effect: 'allow', actions: ['records:update'], condition: { 'resource.owner': { eq: 'principal.id' } } },
  ]
  const role = await createRole(w, w.org, rules)
  const person = await createMember(w, w.org)
  const service = await createService(w, w.org)
  for (const { id } of [person, service]) await owner.post(`${path}/iam/groups/${role}/members`, { user_id: id })
  const by = (index: number) => ({ ...rules[index], role_id: role, index })
  const refused = { allowed: false, effect: 'deny', matched: null }
  for (const { id } of [person, service]) {
    const ask = async (action: string, resource?: string, attrs?: object) =>
      (await owner.post(`${path}/iam/simulate`, { user_id: id, action, resource, attrs })).data
    t.deepEqual(await ask('types:read'), { allowed: true, effect: 'allow', matched: by(2) })
    t.deepEqual(await ask('types:create'), refused)
    t.deepEqual(await ask('records:read', 'invoices', { total: 99.5 }), { allowed: true, effect: 'allow', matched: by(0) })
    t.deepEqual(
      await ask('records:read', 'invoices', { total: '99.5' }),
      { allowed: true, effect: 'allow', matched: by(0) },
      'a currency field',
    )
    t.deepEqual(await ask('records:read', 'invoices', { total: 100 }), refused)
    t.deepEqual(await ask('records:read', 'invoices'), refused, 'a missing value fails the test')
    t.deepEqual(await ask('records:read', 'invoices', { total: 1, status: 'void' }), { allowed: false, effect: 'deny', matched: by(1) })
    t.deepEqual(await ask('records:read', 'payments', { total: 1 }), refused)
    t.deepEqual(await ask('records:read', '*', { total: 1 }), refused, 'a rule on one key does not apply to all')
    t.deepEqual(await ask('records:update', 'accounts', { owner: id }), { allowed: true, effect: 'allow', matched: by(3) })
    t.deepEqual(await ask('records:update', 'accounts', { owner: randomUUID() }), refused)
  }
})

test('simulate: simulate answers for the owner and for a principal without roles', async (t) => {
  const w = await fresh()
  const { owner, path, ownerId } = w.org
  const { id } = await createMember(w, w.org)
  const ask = async (user_id: string) => (await owner.post(`${path}/iam/simulate`, { user_id, action: 'org:update' })).data
  t.deepEqual(await ask(ownerId), { allowed: true, effect: 'allow', matched: null })
  t.deepEqual(await ask(ownerId.toUpperCase()), { allowed: true, effect: 'allow', matched: null })
  t.deepEqual(await ask(id), { allowed: false, effect: 'deny', matched: null })
})

test('simulate: an invalid question is refused, and an unknown principal is not found', async (t) => {
  const w = await fresh()
  const { owner, path, ownerId } = w.org
  const other = await createOrg(w, 'Other')
  const ask = (body: object) => owner.post(`${path}/iam/simulate`, body)
  for (const id of [other.ownerId, randomUUID(), 'x', '']) t.is((await ask({ user_id: id, action: 'org:update' })).status, 404)
  for (const action of ['org:delete', '*', 'records:*', '', 1]) t.is((await ask({ user_id: ownerId, action })).status, 400)
  t.is((await ask({ action: 'org:update' })).body.error.message, 'user_id is required')
  t.is((await ask({ user_id: ownerId })).body.error.message, 'action is required')
  t.is((await ask({ user_id: ownerId, action: 'org:update', attrs: [] })).body.error.message, 'attrs must be an object')
  t.is((await ask({ user_id: ownerId, action: 'org:update', resource: 1 })).body.error.message, 'resource must be a string')
})
