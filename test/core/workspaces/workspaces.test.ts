import { randomUUID } from 'node:crypto'
import test from 'ava'
import { apps as appNames } from '#shared/platform/kernel/apps.ts'
import { callKontor } from '#test/bin/call.ts'
import { createMember, createPerson, createService } from '#test/support/factories.ts'
import { lockTable } from '#test/support/locks.ts'
import { updateWorkspace } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const fresh = shareWorld(test)

const appsThatAre = (on: boolean) => Object.fromEntries(appNames.map((app) => [app, on]))
const apps = appsThatAre(true)

test('workspaces: a new workspace answers ORG_NOT_READY until a worker has set it up', async (t) => {
  const w = await world()
  t.teardown(w.close)
  // The worker waits for this lock, since the set-up writes record types.
  const lock = await lockTable(t, w.db, 'record_types')
  const { id, client } = await createPerson(w, 'Ann')
  const made = await client.post('/v1/orgs', { name: '  Blue Door ' })
  t.is(made.status, 201)
  const { id: orgId, created_at, ...rest } = made.data
  t.deepEqual(rest, {
    name: 'Blue Door',
    status: 'provisioning',
    plan: 'paid',
    owner_id: id,
    color: null,
    logo: null,
    default_currency: 'USD',
    timezone: 'UTC',
    apps,
    multi_currency: false,
    books_closed_through: null,
  })
  t.regex(created_at, /^\d{4}-\d\d-\d\dT.*Z$/)
  const path = `/v1/orgs/${orgId}`
  for (const call of [
    client.get(path),
    client.get(`${path}/members`),
    client.patch(path, { name: 'X' }),
    client.get(`${path}/records/accounts`),
  ]) {
    const { status, body, headers } = await call
    t.deepEqual([status, body.error.code], [503, 'ORG_NOT_READY'])
    t.regex(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  t.deepEqual((await client.get('/v1/orgs')).data, [made.data])
  t.is((await (await createPerson(w, 'Stranger')).client.get(path)).status, 404)
  await lock.release()
  await w.drain()
  t.like((await client.get(path)).data, { id: orgId, status: 'active' })
  t.is((await client.get(`${path}/records/accounts`)).status, 200)
  t.like((await client.get(`${path}/members`)).data, [{ id, owner: true, roles: [] }])
})

test('workspaces: a person sees its own workspaces, oldest first', async (t) => {
  const w = await fresh()
  const { client } = await createMember(w, w.org)
  const { data: own } = await client.post('/v1/orgs', { name: 'Own' })
  await w.org.owner.post('/v1/orgs', { name: 'Not mine' })
  t.deepEqual(
    (await client.get('/v1/orgs')).data.map(({ id }: { id: string }) => id),
    [w.org.id, own.id],
  )
  t.deepEqual((await client.get('/v1/auth/me')).data.orgs, [
    { id: w.org.id, name: 'Acme' },
    { id: own.id, name: 'Own' },
  ])
})

test('workspaces: the name of a workspace has 1 to 120 characters in one line', async (t) => {
  const w = await fresh()
  const create = async (name?: unknown) => (await w.org.owner.post('/v1/orgs', { name })).body.error?.message
  t.is(await create(), 'name is required')
  t.is(await create(''), 'name must be a name of 1 to 120 characters in one line')
  t.is(await create(' \u2003 '), 'name must be a name of 1 to 120 characters in one line')
  t.is(await create('a\nb'), 'name must be a name of 1 to 120 characters in one line')
  t.is(await create('x'.repeat(121)), 'name must have at most 120 characters')
  t.is(await create(1), 'name must be a string')
  t.is(await create('😀'.repeat(120)), undefined)
})

test('workspaces: settings change separately, and apply in every process from the next request on', async (t) => {
  const w = await fresh()
  const second = (await startSecondApi(t, w)).as(w.org.owner.token)
  const { owner, path } = w.org
  const before = (await second.get(path)).data
  const change = async (changes: object) => (await owner.patch(path, changes)).data
  t.deepEqual(await change({}), before)
  t.deepEqual(await change({ name: ' Acme & Co ' }), { ...before, name: 'Acme & Co' })
  t.deepEqual(await change({ default_currency: 'JPY', timezone: 'Asia/Kolkata' }), {
    ...before,
    name: 'Acme & Co',
    default_currency: 'JPY',
    timezone: 'Asia/Kolkata',
  })
  t.deepEqual((await change({ apps: { queues: false } })).apps, { ...apps, queues: false })
  t.deepEqual((await change({ apps: { calendar: false, queues: true } })).apps, { ...apps, calendar: false })
  const after = await change({ multi_currency: true })
  t.true(after.multi_currency)
  t.deepEqual((await second.get(path)).data, after)
  t.deepEqual(await change(after), after, 'settings can be sent back as they were read')
})

test('workspaces: an app is on while the workspace stores no flag of it', async (t) => {
  const w = await fresh()
  const { id, owner, path } = w.org
  const hasQueues = async () => [(await owner.get(path)).data.apps.queues, (await owner.get(`${path}/queues`)).status]
  await updateWorkspace(w.db, id, `apps = '{"functions": false}'`)
  t.deepEqual((await owner.get(path)).data.apps, { ...apps, functions: false })
  t.deepEqual((await owner.get('/v1/orgs')).data[0].apps, { ...apps, functions: false })
  t.deepEqual(await hasQueues(), [true, 200])
  t.deepEqual((await owner.patch(path, { apps: { queues: false } })).data.apps, { ...apps, functions: false, queues: false })
  t.deepEqual(await hasQueues(), [false, 404])
})

test('workspaces: a wrong setting is refused with what would be right', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const refusal = async (changes: object) => {
    const { status, body } = await owner.patch(path, changes)
    return status === 400 ? body.error.message : status
  }
  for (const code of ['usd', 'XXY', 'EURO', '', 'ZWL'])
    t.regex(await refusal({ default_currency: code }), /^default_currency must be an ISO 4217/)
  for (const zone of ['Mars/Base', 'europe/berlin', '+02:00', '', 'GMT+2'])
    t.regex(await refusal({ timezone: zone }), /^timezone must be a name of/)
  t.is(await refusal({ timezone: null }), 'timezone must be a string')
  t.is(await refusal({ name: '' }), 'name must be a name of 1 to 120 characters in one line')
  t.is(await refusal({ apps: { chess: true } }), `apps.chess is no key of apps; did you mean queues? There are ${appNames.join(', ')}`)
  t.is(await refusal({ apps: { queues: 'no' } }), 'apps.queues must be a boolean')
  t.is(await refusal({ apps: [] }), 'apps must be an object')
  t.is(await refusal({ multi_currency: false }), 200, 'it is already off')
  t.is(await refusal({ multi_currency: true }), 200)
  t.regex(await refusal({ multi_currency: false, name: 'Not this either' }), /^multi_currency can only be switched on/)
  t.like((await owner.get(path)).data, { name: 'Acme', default_currency: 'USD', timezone: 'UTC', apps, multi_currency: true })
})

test('workspaces: changes of 20 settings at once are all stored', async (t) => {
  const w = await fresh()
  const { owner, path } = w.org
  const changes = [
    ...Object.keys(apps).map((app) => ({ apps: { [app]: false } })),
    ...[{ name: 'New' }, { default_currency: 'EUR' }, { timezone: 'Europe/Paris' }, { multi_currency: true }],
  ]
  const answers = await Promise.all([...changes, ...changes].map((one) => owner.patch(path, one)))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const all = { name: 'New', default_currency: 'EUR', timezone: 'Europe/Paris', multi_currency: true, apps: appsThatAre(false) }
  t.like((await owner.get(path)).data, all)
})

test('workspaces: every member and key reads settings, and org:update changes them', async (t) => {
  const w = await fresh()
  const { path } = w.org
  const member = await createMember(w, w.org)
  const key = await createService(w, w.org)
  const editor = await createMember(w, w.org, [{ effect: 'allow', actions: ['org:update'] }])
  for (const { client } of [member, key]) {
    t.is((await client.get(path)).status, 200)
    const { status, body } = await client.patch(path, { name: 'X' })
    t.deepEqual([status, body.error.message], [403, 'Needs org:update'])
  }
  t.is((await editor.client.patch(path, { name: 'Edited' })).data.name, 'Edited')
  t.is((await (await createPerson(w, 'Stranger')).client.get(path)).status, 404)
  t.is((await w.visitor.get(path)).status, 401)
  for (const id of [randomUUID(), 'x', '%20']) t.is((await member.client.get(`/v1/orgs/${id}`)).status, 404)
})

test('workspaces: new workspaces have the plan of DEFAULT_PLAN', async (t) => {
  const w = await world({ DEFAULT_PLAN: 'free' })
  t.teardown(w.close)
  t.is((await w.org.owner.post('/v1/orgs', { name: 'Small' })).data.plan, 'free')
  t.is((await callKontor(w, 'org', 'create', 'Paid', w.org.ownerId, '--plan', 'paid', '--json')).json.plan, 'paid')
})
