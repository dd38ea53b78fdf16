import test from 'ava'
import { othersCalled } from '#shared/platform/kernel/process/running-calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { createPerson } from '#test/support/factories.ts'
import { world } from '#test/support/world.ts'

test('owners: calls of the workspaces of one owner count together, those of others do not', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const owner = await createPerson(w, 'Olga')
  const other = await createPerson(w, 'Otto')
  const [first, second] = await Promise.all(['a', 'b'].map((name) => owner.client.post('/v1/orgs', { name })))
  const foreign = await other.client.post('/v1/orgs', { name: 'c' })
  await w.drain()
  await eventually(() => !othersCalled(owner.id))
  for (const org of [first, second]) t.is((await owner.client.get(`/v1/orgs/${org?.data.id}/types`)).status, 200)
  t.is((await owner.client.get('/v1/auth/me')).status, 200)
  t.false(othersCalled(owner.id))
  t.is((await w.visitor.get(`/v1/orgs/${foreign.data.id}/types`)).status, 401)
  t.false(othersCalled(owner.id), 'nobody was let in')
  t.is((await other.client.get(`/v1/orgs/${foreign.data.id}/types`)).status, 200)
  t.true(othersCalled(owner.id))
})
