import test from 'ava'
import { ageLeftShares, ageLeftSpaces } from '#test/features/drive/rows.ts'
import { firstSpaces, makeSpace, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { type Caller, createMember, createOrg, createService, type Org } from '#test/support/factories.ts'
import { runMaintenanceTask } from '#test/support/maintenance.ts'
import { addMember, readFileUsage } from '#test/support/rows.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const opened = async () => {
  const w = await start()
  const org = await createOrg(w)
  return { w, org, ...(await firstSpaces(org.owner, org)) }
}

const rule = (actions: readonly string[], resources?: readonly string[]) => [
  { effect: 'allow', actions, ...(resources ? { resources } : {}) },
]

/** The outcomes of each operation of a space for this caller. */
async function outcomesFor({ client }: Caller, org: Org, id: string): Promise<string> {
  const space = spaceOf(client, org, id)
  const answers = {
    list: await space.list(),
    read: await space.download('f/a.txt'),
    write: await space.put('f/new.txt'),
    delete: await space.remove('f/new.txt'),
    folder: await space.makeFolder('f/made/'),
    move: await space.move('f/made/', 'f/moved/'),
    shares: await space.shares(),
    remove: await client.delete(space.path),
  }
  await spaceOf(org.owner, org, id).remove('f/moved/')
  return Object.entries(answers)
    .map(([name, { status }]) => `${name} ${status}`)
    .join(' ')
}

const all = (status: number) => `list ${status} read ${status} write ${status} delete ${status} folder ${status} move ${status}`

test('access: in a team’s space each permission allows only its own calls on its own key, for members and access keys', async (t) => {
  const { w, org } = await opened()
  const id = await makeSpace(org.owner, org, 'plans')
  await spaceOf(org.owner, org, id).put('f/a.txt')
  const expected: Readonly<Record<string, readonly [readonly object[], string]>> = {
    nothing: [[], `${all(404)} shares 404 remove 404`],
    'another space': [rule(['drive:read', 'drive:write', 'drive:manage'], ['other']), `${all(404)} shares 404 remove 404`],
    read: [rule(['drive:read'], ['plans']), 'list 200 read 200 write 403 delete 403 folder 403 move 403 shares 403 remove 403'],
    write: [rule(['drive:write'], ['plans']), 'list 403 read 403 write 201 delete 200 folder 201 move 200 shares 403 remove 403'],
    manage: [rule(['drive:manage'], ['plans']), 'list 403 read 403 write 403 delete 403 folder 403 move 403 shares 200 remove 400'],
    everything: [rule(['*']), 'list 200 read 200 write 201 delete 200 folder 201 move 200 shares 200 remove 400'],
  }
  for (const [name, [policy, outcomes]] of Object.entries(expected)) {
    t.is(await outcomesFor(await createMember(w, org, policy), org, id), outcomes, name)
    t.is(await outcomesFor(await createService(w, org, policy), org, id), outcomes, `${name}, key`)
  }
})

test('access: a personal drive is accessible only to its owner, not to any role or the workspace’s owner', async (t) => {
  const { w, org } = await opened()
  const ann = await createMember(w, org)
  const { main } = await firstSpaces(ann.client, org)
  await spaceOf(ann.client, org, main).put('f/a.txt')
  const nobody = `${all(404)} shares 404 remove 404`
  t.is(await outcomesFor({ id: org.ownerId, client: org.owner }, org, main), nobody)
  t.is(await outcomesFor(await createMember(w, org, rule(['*'])), org, main), nobody)
  t.is(await outcomesFor(await createService(w, org, rule(['*'])), org, main), nobody)
  const { data } = await org.owner.get(`${org.path}/drive/buckets`)
  t.deepEqual(
    data.buckets.map(({ type }: { type: string }) => type),
    ['user', 'org'],
  )
  t.false(JSON.stringify(data).includes(main))
})

test('access: an access key has no drive and creates none', async (t) => {
  const { w, org } = await opened()
  const { client } = await createService(w, org, rule(['*']))
  t.is(outcomeOf(await client.post(`${org.path}/drive/buckets`, { type: 'personal', name: 'Mine' })), '401 UNAUTHORIZED')
  t.deepEqual(
    (await client.get(`${org.path}/drive/buckets`)).data.buckets.map(({ key }: { key: string }) => key),
    ['org'],
  )
  t.is(outcomeOf(await client.post(`${org.path}/drive/buckets`, { key: 'made', name: 'Made' })), '201')
  t.is(outcomeOf(await client.post(`${org.path}/drive/buckets`, { key: null, name: 'Made' })), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await org.owner.post(`${org.path}/drive/buckets`, { type: 'personal', key: null, name: 'Mine' })), '201')
  const other = await createMember(w, org)
  t.is(outcomeOf(await other.client.post(`${org.path}/drive/buckets`, { key: 'more', name: 'More' })), '403 FORBIDDEN')
})

test('access: a share gives access to its prefix only: a folder or a file, to view or to edit', async (t) => {
  const { w, org } = await opened()
  const [ann, ben, cleo] = [await createMember(w, org, [], 'Ann'), await createMember(w, org), await createMember(w, org)]
  const { main } = await firstSpaces(ann.client, org)
  const own = spaceOf(ann.client, org, main)
  for (const key of ['f/a.txt', 'f/sub/b.txt', 'fx/c.txt', 'g/d.txt', 'top.txt']) await own.put(key, key)
  const shared = await own.share({ prefix: 'f/', user_id: ben.id, mode: 'view' })
  t.is(shared.status, 201)
  t.deepEqual(
    { ...shared.data, id: '', created_at: '' },
    { id: '', prefix: 'f/', grantee_id: ben.id, grantee_name: 'Max Member', org_wide: false, mode: 'view', created_at: '' },
  )
  t.is((await own.share({ prefix: 'g/d.txt', email: `${ben.id}@EXAMPLE.com`, mode: 'edit' })).status, 201)
  const his = spaceOf(ben.client, org, main)
  const outcomes = async (calls: readonly Promise<Parameters<typeof outcomeOf>[0]>[]) => (await Promise.all(calls)).map(outcomeOf)
  t.deepEqual(await outcomes([his.list({ prefix: 'f/' }), his.list({ prefix: 'f/sub/' }), his.download('f/sub/b.txt')]), [
    '200',
    '200',
    '200',
  ])
  t.deepEqual(
    await outcomes([
      his.list(),
      his.list({ prefix: 'fx/' }),
      his.download('top.txt'),
      his.download('fx/c.txt'),
      his.list({ prefix: 'g/' }),
    ]),
    Array(5).fill('404 NOT_FOUND'),
  )
  t.deepEqual(await outcomes([his.put('f/a.txt'), his.remove('f/'), his.makeFolder('f/x/'), his.shares()]), Array(4).fill('403 FORBIDDEN'))
  t.is((await his.put('g/d.txt', 'by Ben')).status, 200)
  t.deepEqual(await outcomes([his.put('g/e.txt'), his.move('g/d.txt', 'g/e.txt')]), Array(2).fill('404 NOT_FOUND'))
  t.is(outcomeOf(await his.move('g/d.txt', 'f/d.txt')), '403 FORBIDDEN')
  t.deepEqual((await ben.client.get(`${org.path}/drive/buckets`)).data.shared, [
    { bucket_id: main, prefix: 'f/', mode: 'view', owner_name: 'Ann' },
    { bucket_id: main, prefix: 'g/d.txt', mode: 'edit', owner_name: 'Ann' },
  ])
  t.is(outcomeOf(await spaceOf(cleo.client, org, main).list({ prefix: 'f/' })), '404 NOT_FOUND')
  t.is((await own.share({ prefix: 'f/', org_wide: true, mode: 'edit' })).status, 201)
  t.is((await spaceOf(cleo.client, org, main).put('f/new')).status, 201)
  const robot = await createService(w, org)
  t.is(outcomeOf(await spaceOf(robot.client, org, main).list({ prefix: 'f/' })), '404 NOT_FOUND')
  const again = await own.share({ prefix: 'f/', user_id: ben.id, mode: 'edit' })
  t.is(again.status, 200)
  t.is(again.data.id, shared.data.id)
  t.is((await ann.client.delete(`${own.path}/shares/${shared.data.id}`)).status, 204)
  t.is(outcomeOf(await ann.client.delete(`${own.path}/shares/${shared.data.id}`)), '404 NOT_FOUND')
  t.is((await own.shares()).data.length, 2)
})

test('access: a deny rule refuses what a share of a team’s space allows, but nothing in a personal drive', async (t) => {
  const { w, org } = await opened()
  const id = await makeSpace(org.owner, org, 'mine-3')
  const space = spaceOf(org.owner, org, id)
  await space.put('f/a.txt')
  await space.share({ org_wide: true, mode: 'edit' })
  const deny = (...actions: string[]) => [{ effect: 'deny', actions, resources: ['mine-3'] }]
  const edits = 'list 200 read 200 write 201 delete 200 folder 201 move 200 shares 403 remove 403'
  const expected: Readonly<Record<string, readonly [readonly object[], string, mode: string | undefined]>> = {
    nothing: [[], edits, 'edit'],
    'another space': [[{ effect: 'deny', actions: ['drive:read', 'drive:write'], resources: ['other'] }], edits, 'edit'],
    write: [deny('drive:write'), 'list 200 read 200 write 403 delete 403 folder 403 move 403 shares 403 remove 403', 'view'],
    read: [deny('drive:read'), 'list 403 read 403 write 201 delete 200 folder 201 move 200 shares 403 remove 403', 'edit'],
    both: [deny('drive:read', 'drive:write'), `${all(404)} shares 404 remove 404`, undefined],
    everything: [[{ effect: 'deny', actions: ['*'] }], `${all(404)} shares 404 remove 404`, undefined],
  }
  for (const [name, [policy, outcomes, mode]] of Object.entries(expected)) {
    const member = await createMember(w, org, policy)
    t.is(await outcomesFor(member, org, id), outcomes, name)
    const { shared } = (await member.client.get(`${org.path}/drive/buckets`)).data
    t.is(shared.find(({ bucket_id }: { bucket_id: string }) => bucket_id === id)?.mode, mode, name)
  }
  const [ann, ben] = [await createMember(w, org), await createMember(w, org, [{ effect: 'deny', actions: ['*'] }])]
  const { main } = await firstSpaces(ann.client, org)
  await spaceOf(ann.client, org, main).put('f/a.txt')
  await spaceOf(ann.client, org, main).share({ prefix: 'f/', user_id: ben.id, mode: 'view' })
  t.is((await spaceOf(ben.client, org, main).download('f/a.txt')).status, 200)
})

test('access: a person’s main drive is made by the first call that names its key', async (t) => {
  const { w, org } = await opened()
  const firstCalls: Readonly<Record<string, readonly [(space: ReturnType<typeof spaceOf>) => Promise<Answer>, status: number]>> = {
    list: [(space) => space.list(), 200],
    upload: [(space) => space.put('a.txt'), 201],
    folder: [(space) => space.makeFolder('a/'), 201],
    shares: [(space) => space.share({ org_wide: true, mode: 'view' }), 201],
    download: [(space) => space.download('a.txt'), 404],
  }
  for (const [name, [call, status]] of Object.entries(firstCalls)) {
    const { id, client } = await createMember(w, org)
    t.is((await call(spaceOf(client, org, `user-${id}`))).status, status, name)
    const { buckets } = (await client.get(`${org.path}/drive/buckets`)).data
    t.deepEqual(
      buckets.map(({ key, type }: Record<string, string>) => [key, type]),
      [[`user-${id}`, 'user']],
      name,
    )
  }
  const [ann, ben] = [await createMember(w, org), await createMember(w, org)]
  t.is(outcomeOf(await spaceOf(ben.client, org, `user-${ann.id}`).list()), '404 NOT_FOUND')
})

test('access: a share names one member; the shared space has no shares', async (t) => {
  const { w, org, shared } = await opened()
  const ann = await createMember(w, org)
  const own = spaceOf(ann.client, org, (await firstSpaces(ann.client, org)).main)
  const stranger = (await createOrg(w)).ownerId
  const bad = [
    { mode: 'view' },
    { mode: 'view', org_wide: false },
    { mode: 'view', org_wide: true, user_id: org.ownerId },
    { mode: 'view', user_id: stranger },
    { mode: 'view', user_id: ann.id },
    { mode: 'view', user_id: 'nobody' },
    { mode: 'view', email: 'nobody@example.com' },
    { mode: 'own', org_wide: true },
    { org_wide: true },
    { mode: 'view', org_wide: true, prefix: '/a' },
  ]
  for (const body of bad) t.is(outcomeOf(await own.share(body)), '400 VALIDATION_ERROR', JSON.stringify(body))
  t.is(outcomeOf(await spaceOf(org.owner, org, shared).share({ org_wide: true, mode: 'view' })), '400 VALIDATION_ERROR')
  t.deepEqual((await spaceOf(org.owner, org, shared).shares()).data, [])
})

test('access: shares move with their files, the stronger of two is kept, and a deletion ends them', async (t) => {
  const { w, org } = await opened()
  const [ann, ben] = [await createMember(w, org), await createMember(w, org)]
  const own = spaceOf(ann.client, org, (await firstSpaces(ann.client, org)).main)
  for (const key of ['a/x', 'a/b/y', 'c/z', 'single']) await own.put(key)
  for (const [prefix, mode] of Object.entries({ 'a/': 'edit', 'a/b/': 'view', 'c/b/': 'edit', 'c/': 'view', single: 'view' })) {
    await own.share({ prefix, user_id: ben.id, mode })
  }
  const modes = async () => (await own.shares()).data.map(({ prefix, mode }: Record<string, string>) => `${prefix} ${mode}`)
  t.is((await own.move('a/', 'c/')).data.moved, 2)
  t.deepEqual(await modes(), ['c/ edit', 'c/b/ edit', 'single view'])
  t.is((await own.move('single', 'other')).data.moved, 1)
  t.deepEqual(await modes(), ['c/ edit', 'c/b/ edit', 'other view'])
  await own.remove('other')
  t.deepEqual(await modes(), ['c/ edit', 'c/b/ edit'])
  for (const key of ['c/x', 'c/b/y', 'c/z']) await own.remove(key)
  t.deepEqual(await modes(), ['c/ edit', 'c/b/ edit'], 'a folder’s share outlives its last file')
  t.deepEqual((await own.remove('c/')).data, { deleted: 0 })
  t.deepEqual(await modes(), [])
})

test('access: an editor joins folders only where no share would then cover other files', async (t) => {
  const { w, org } = await opened()
  const [ann, ben, cleo] = [await createMember(w, org), await createMember(w, org), await createMember(w, org)]
  const { main } = await firstSpaces(ann.client, org)
  const own = spaceOf(ann.client, org, main)
  const hers = spaceOf(cleo.client, org, main)
  for (const key of ['x/a/1', 'x/b/2', 'x/c/d/3', 'x/e/4', 'x/f/5']) await own.put(key)
  await own.share({ prefix: 'x/', user_id: cleo.id, mode: 'edit' })
  await own.share({ prefix: 'x/a/', user_id: ben.id, mode: 'view' })
  await own.share({ prefix: 'x/e/', user_id: ben.id, mode: 'view' })
  const refused = await hers.move('x/a/', 'x/b/')
  t.is(outcomeOf(refused), '403 FORBIDDEN')
  t.regex(refused.body.error.message, /drive:manage/)
  t.is(outcomeOf(await hers.move('x/a/', 'x/')), '403 FORBIDDEN', 'into its own parent')
  t.is(outcomeOf(await spaceOf(ben.client, org, main).download('x/b/2')), '404 NOT_FOUND')
  t.is((await hers.move('x/a/', 'x/new/')).data.moved, 1, 'where nothing was')
  t.is((await hers.move('x/new/', 'x/e/')).data.moved, 1, 'where the same share is')
  t.is((await hers.move('x/f/', 'x/b/')).data.moved, 1, 'without a share')
  t.is((await spaceOf(ben.client, org, main).download('x/e/1')).status, 200)
  t.is((await own.move('x/e/', 'x/b/')).data.moved, 2, 'by the owner')
  t.is((await spaceOf(ben.client, org, main).download('x/b/2')).status, 200)
})

test('access: the drive of a member who leaves is inaccessible, and is restored if the member returns within 30 days', async (t) => {
  const { w, org } = await opened()
  const [ann, ben] = [await createMember(w, org), await createMember(w, org)]
  const { main } = await firstSpaces(ann.client, org)
  const bens = await firstSpaces(ben.client, org)
  await spaceOf(ann.client, org, main).put('f/a.txt')
  await spaceOf(ann.client, org, main).share({ prefix: 'f/', user_id: ben.id, mode: 'view' })
  await spaceOf(ben.client, org, bens.main).put('b.txt')
  await spaceOf(ben.client, org, bens.main).share({ prefix: '', user_id: ann.id, mode: 'view' })
  const leave = ({ id }: Caller) => org.owner.delete(`${org.path}/members/${id}`)
  t.is((await leave(ann)).status, 204)
  t.is(outcomeOf(await spaceOf(ben.client, org, main).download('f/a.txt')), '404 NOT_FOUND')
  t.deepEqual((await ben.client.get(`${org.path}/drive/buckets`)).data.shared, [])
  t.deepEqual((await spaceOf(ben.client, org, bens.main).shares()).data, [])
  await addMember(w.db, org.id, ann.id)
  t.is((await spaceOf(ann.client, org, main).download('f/a.txt')).text, 'text')
  t.is((await spaceOf(ben.client, org, main).download('f/a.txt')).text, 'text')
  t.is((await spaceOf(ann.client, org, bens.main).download('b.txt')).text, 'text')
  await leave(ann)
  await ageLeftSpaces(w.db, ann.id, '29 days 23 hours')
  await runMaintenanceTask(w, 'drives of members who left')
  t.is(await readFileUsage(w.db, org.id), 8)
  await ageLeftSpaces(w.db, ann.id, '30 days 1 minute')
  await ageLeftShares(w.db, ann.id, '30 days 1 minute')
  await runMaintenanceTask(w, 'drives of members who left')
  t.is(await readFileUsage(w.db, org.id), 4)
  await addMember(w.db, org.id, ann.id)
  t.not((await firstSpaces(ann.client, org)).main, main)
  t.is(outcomeOf(await spaceOf(ann.client, org, main).list()), '404 NOT_FOUND')
  t.is(outcomeOf(await spaceOf(ann.client, org, bens.main).list()), '404 NOT_FOUND')
})
