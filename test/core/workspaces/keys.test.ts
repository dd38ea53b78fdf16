import { randomUUID } from 'node:crypto'
import test from 'ava'
import { readAccessKeys } from '#test/core/workspaces/rows.ts'
import { createMember, createOrg, createRole, createService, type Org } from '#test/support/factories.ts'
import { countRows, expireAccessKey } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const manage = { effect: 'allow', actions: ['iam:manage_members'] }
const read = { effect: 'allow', actions: ['types:read'] }

/** Creates a service account through the API, and returns its path. */
async function account(w: World, roleIds: readonly string[] = [], org: Org = w.org): Promise<string> {
  const { data } = await org.owner.post(`${org.path}/service-accounts`, { name: 'Robot', role_ids: roleIds })
  return `${org.path}/service-accounts/${data.id}`
}

test('keys: a service account holds its roles, and its key acts for it', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const role = await createRole(w, w.org, [read])
  const made = await owner.post(`${path}/service-accounts`, { name: ' Robot ', role_ids: [role] })
  t.is(made.status, 201)
  t.deepEqual(Object.keys(made.data), ['id', 'name', 'created_at'])
  t.is(made.data.name, 'Robot')
  t.deepEqual((await owner.get(`${path}/service-accounts`)).data, [made.data])
  t.deepEqual((await owner.get(`${path}/service-accounts/${made.data.id}`)).data, made.data)
  const keys = `${path}/service-accounts/${made.data.id}/keys`
  const { status, data } = await owner.post(keys, { name: 'ci' })
  t.is(status, 201)
  const { key, ...shown } = data
  t.regex(key, /^kt_[0-9A-Za-z]{71}$/)
  t.like(shown, { name: 'ci', expires_at: null })
  t.true(key.startsWith(shown.prefix.slice(0, 3)))
  t.deepEqual((await owner.get(keys)).data, [shown], 'the key itself is shown once')
  t.deepEqual((await owner.get(`${keys}/${shown.id}`)).data, shown)
  const robot = w.visitor.as(key)
  t.like((await robot.get(`${path}/iam/me`)).data, {
    principal: { id: made.data.id, type: 'service', name: 'Robot' },
    roles: [{ id: role }],
  })
  t.is((await robot.get(`${path}/types`)).status, 200)
  t.is((await robot.get(`${path}/service-accounts`)).status, 403)
  const stored = await readAccessKeys(w.db, w.org.id)
  t.is(stored.length, 1)
  t.false(JSON.stringify(stored).includes(key.slice(25, 68)))
})

test('keys: the name of a key may be empty, and has one line', async (t) => {
  const w = await fresh()
  const keys = `${await account(w)}/keys`
  t.is((await w.org.owner.post(keys, { name: '' })).status, 201)
  const broken = await w.org.owner.post(keys, { name: 'one\ntwo' })
  t.is(broken.status, 400)
  t.is(broken.body.error.message, 'name must be a name of up to 120 characters in one line')
})

test('keys: a key is refused in another workspace', async (t) => {
  const w = await fresh()
  const other = await createOrg(w, 'Other')
  const { client } = await createService(w, w.org)
  t.is((await client.get(w.org.path)).status, 200)
  t.is((await client.get(other.path)).status, 404)
})

test('keys: a revoked key is refused by every process on the next request; other keys work', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const robot = await account(w)
  const [first, other] = [await w.org.owner.post(`${robot}/keys`, {}), await w.org.owner.post(`${robot}/keys`, {})]
  const statuses = async (key: string) =>
    (await Promise.all([w.visitor, second].map((client) => client.as(key).get(w.org.path)))).map(({ status }) => status)
  t.deepEqual(await statuses(first.data.key), [200, 200])
  t.is((await w.org.owner.delete(`${robot}/keys/${first.data.id}`)).status, 204)
  t.deepEqual(await statuses(first.data.key), [401, 401])
  t.deepEqual(await statuses(other.data.key), [200, 200])
  t.is((await w.org.owner.delete(`${robot}/keys/${first.data.id}`)).status, 404)
})

test('keys: a deleted service account removes its keys and roles', async (t) => {
  const w = await fresh()
  const second = await startSecondApi(t, w)
  const robot = await account(w, [await createRole(w, w.org, [read])])
  const { data } = await w.org.owner.post(`${robot}/keys`, {})
  t.is((await second.as(data.key).get(`${w.org.path}/types`)).status, 200)
  t.is((await w.org.owner.delete(robot)).status, 204)
  t.is((await second.as(data.key).get(`${w.org.path}/types`)).status, 401)
  for (const table of ['access_keys', 'role_members']) t.is(await countRows(w.db, table, w.org.id), 0, table)
  t.is((await w.org.owner.delete(robot)).status, 404)
  t.is((await w.org.owner.post(`${robot}/keys`, {})).status, 404)
})

test('keys: a key expires at its time', async (t) => {
  const w = await fresh()
  const robot = await account(w)
  const create = (expires_at: unknown) => w.org.owner.post(`${robot}/keys`, { expires_at })
  const { data } = await create('2099-12-31T23:30:00.123456-05:30')
  t.is(data.expires_at, '2100-01-01T05:00:00.123456Z')
  t.is((await w.visitor.as(data.key).get(w.org.path)).status, 200)
  await expireAccessKey(w.db, data.id)
  t.is((await w.visitor.as(data.key).get(w.org.path)).status, 401)
  t.is((await create(null)).data.expires_at, null)
  const past = new Date(Date.now() - 1_000).toISOString()
  t.is((await create(past)).body.error.message, 'expires_at must be in the future')
  for (const wrong of [
    'tomorrow',
    '',
    '2099-12-31',
    '2099-12-31T10:00:00',
    '2099-13-01T00:00:00Z',
    '2099-12-31 10:00:00Z',
    '2099-02-30T25:00:00Z',
    '2099-02-30T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
  ]) {
    t.regex((await create(wrong)).body.error.message, /^expires_at must be RFC 3339/, wrong)
  }
  t.is((await create(4_102_444_800)).status, 400)
})

test('keys: a caller creates keys only for service accounts that hold no more than the caller', async (t) => {
  const w = await fresh()
  const small = await account(w, [await createRole(w, w.org, [read])])
  const big = await account(w, [await createRole(w, w.org, [{ effect: 'allow', actions: ['*'] }])])
  const both = await account(w, [
    await createRole(w, w.org, [read]),
    await createRole(w, w.org, [{ effect: 'allow', actions: ['audit:read'] }]),
  ])
  const bare = await account(w)
  const manager = await createMember(w, w.org, [manage, read])
  const statuses = await Promise.all([small, big, both, bare].map(async (one) => (await manager.client.post(`${one}/keys`, {})).status))
  t.deepEqual(statuses, [201, 403, 403, 201])
  t.is((await w.org.owner.post(`${big}/keys`, {})).status, 201, 'the owner is permitted')
  t.is((await manager.client.get(`${big}/keys`)).status, 200)
})

test('keys: a service account is created with roles that grant no more than its creator holds', async (t) => {
  const w = await fresh()
  const other = await createOrg(w, 'Other')
  const foreign = await createRole(w, other, [read])
  const big = await createRole(w, w.org, [{ effect: 'allow', actions: ['audit:read'] }])
  const small = await createRole(w, w.org, [read])
  const visitors = await createRole(w, w.org, [read], true)
  const manager = await createMember(w, w.org, [manage, read])
  const create = async (roleIds: readonly string[]) => {
    const { status, body } = await manager.client.post(`${w.org.path}/service-accounts`, { name: 'Robot', role_ids: roleIds })
    return body.error?.message ?? status
  }
  t.is(await create([small]), 201)
  t.regex(await create([small, big]), /^role_ids\[1\]: policy\[0\] grants more than you hold: audit:read/)
  t.is(await create([foreign]), 'role_ids[0] names no role of this workspace')
  t.is(await create([visitors]), 'role_ids[0] names a role for visitors, which is given to nobody')
  t.is(await countRows(w.db, 'service_accounts', w.org.id), 1)
})

test('keys: ids of another workspace and malformed ids are not found', async (t) => {
  const w = await fresh()
  const other = await createOrg(w, 'Other')
  const [own, foreign] = [await account(w), await account(w, [], other)]
  const foreignId = foreign.split('/').at(-1)
  const { data: ownKey } = await w.org.owner.post(`${own}/keys`, {})
  const { data: foreignKey } = await other.owner.post(`${foreign}/keys`, {})
  for (const id of [foreignId, randomUUID(), 'x', w.org.ownerId]) {
    const path = `${w.org.path}/service-accounts/${id}`
    t.is((await w.org.owner.get(path)).status, 404)
    t.is((await w.org.owner.delete(path)).status, 404)
    t.is((await w.org.owner.get(`${path}/keys/${ownKey.id}`)).status, 404)
    t.is((await w.org.owner.get(`${path}/keys`)).status, 404)
    t.is((await w.org.owner.post(`${path}/keys`, {})).status, 404)
    t.is((await w.org.owner.delete(`${path}/keys/${ownKey.id}`)).status, 404)
  }
  for (const id of [foreignKey.id, randomUUID(), 'x']) {
    t.is((await w.org.owner.get(`${own}/keys/${id}`)).status, 404)
    t.is((await w.org.owner.delete(`${own}/keys/${id}`)).status, 404)
  }
  for (const { key } of [ownKey, foreignKey]) t.is((await w.visitor.as(key).get('/v1/auth/me')).status, 200)
})
