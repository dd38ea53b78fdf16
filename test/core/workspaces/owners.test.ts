import test from 'ava'
import { ageWorkspaces, readShares } from '#test/core/workspaces/rows.ts'
import { createPerson } from '#test/support/factories.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test, { MAX_WORKSPACES_PER_PERSON: '5', WORKSPACES_PER_HOUR: '3' })

const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status).sort()

/** Makes 20 workspaces at once, alternately at two API processes. */
const makeTwenty = (w: World, other: World['visitor'], token: string | null) =>
  Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? w.visitor : other).as(token).post('/v1/orgs', { name: `W ${index}` })))

test('owners: of 20 workspaces that a person makes at once in two processes, those of an hour and of a person are made', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const { id, client } = await createPerson(w, 'Mara Maker')
  const first = await makeTwenty(w, second, client.token)
  t.deepEqual(statuses(first), [...Array(3).fill(201), ...Array(17).fill(429)])
  const refused = first.find(({ status }) => status === 429)
  t.like(refused?.body.error, { code: 'RATE_LIMITED', message: 'A person may make 3 workspaces an hour at most' })
  const seconds = Number(refused?.headers.get('retry-after'))
  t.true(seconds > 3_500 && seconds <= 3_600, `${seconds} s`)

  await ageWorkspaces(w.db, id, 1_800)
  const half = Number((await client.post('/v1/orgs', { name: 'Early' })).headers.get('retry-after'))
  t.true(half > 1_700 && half <= 1_800, `${half} s`)
  await ageWorkspaces(w.db, id, 1_800)
  t.deepEqual(statuses(await makeTwenty(w, second, client.token)), [201, 201, ...Array(18).fill(400)])
  const full = await client.post('/v1/orgs', { name: 'More' })
  t.deepEqual(
    [full.status, full.body.error.code, full.body.error.message],
    [400, 'VALIDATION_ERROR', 'A person may own 5 workspaces at most, and you own 5; use one of them for this'],
  )
  t.is((await client.get('/v1/orgs')).data.length, 5)
  const other = await createPerson(w, 'Otto Other')
  t.is((await other.client.post('/v1/orgs', { name: 'Mine' })).status, 201)
  await w.drain()
})

test('owners: a refused workspace is made under the same Idempotency-Key once the hour has passed', async (t) => {
  const w = await fresh()
  const { id, client } = await createPerson(w, 'Ida')
  for (const name of ['a', 'b', 'c']) t.is((await client.post('/v1/orgs', { name })).status, 201)
  const again = () => client.post('/v1/orgs', { name: 'd' }, { 'idempotency-key': 'once' })
  t.is((await again()).status, 429)
  await ageWorkspaces(w.db, id, 3_600)
  const made = await again()
  t.is(made.status, 201)
  t.is((await again()).data.id, made.data.id)
  await w.drain()
})

test('owners: workspaces of one owner have one share, and nobody is shown it', async (t) => {
  const w = await fresh()
  const { id, client } = await createPerson(w, 'Shirin')
  const one = await client.post('/v1/orgs', { name: 'One' })
  await client.post('/v1/orgs', { name: 'Two' })
  await w.drain()
  t.deepEqual(await readShares(w.db, id), [id, id])
  const path = `/v1/orgs/${one.data.id}`
  for (const { data } of [one, await client.get(path), await client.patch(path, { name: 'One more' })]) t.false('share_id' in data)
  t.is((await client.patch(path, { share_id: id })).status, 400)
})
