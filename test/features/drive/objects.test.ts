import { createHash, randomBytes } from 'node:crypto'
import test from 'ava'
import { addKeys, countLooseBlobs } from '#test/features/drive/rows.ts'
import { firstSpaces, formOf, makeSpace, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const opened = async () => {
  const w = await start()
  const org = await createOrg(w)
  return { w, org, space: spaceOf(org.owner, org, (await firstSpaces(org.owner, org)).shared) }
}

test('objects: a file is uploaded, replaced, listed and deleted', async (t) => {
  const { space, org } = await opened()
  const bytes = randomBytes(300_000)
  const first = await space.put('a/b/photo.bin', bytes)
  t.is(first.status, 201)
  const { created_at, updated_at, ...facts } = first.data
  t.deepEqual(facts, {
    key: 'a/b/photo.bin',
    name: 'photo.bin',
    size: 300_000,
    content_type: 'application/octet-stream',
    sha256: createHash('sha256').update(bytes).digest('hex'),
    created_by: org.ownerId,
  })
  t.is(created_at, updated_at)
  const second = await space.put('a/b/photo.bin', 'now text')
  t.is(second.status, 200)
  t.is(second.data.created_at, created_at)
  t.true(second.data.updated_at > updated_at)
  t.is((await space.download('a/b/photo.bin')).text, 'now text')
  t.deepEqual((await space.list()).data, { folders: [{ prefix: 'a/', name: 'a' }], objects: [] })
  t.deepEqual((await space.list({ prefix: 'a/b/' })).data.objects, [second.data])
  t.deepEqual((await space.remove('a/b/photo.bin')).data, { deleted: 1 })
  t.is(outcomeOf(await space.remove('a/b/photo.bin')), '404 NOT_FOUND')
  t.is(outcomeOf(await space.download('a/b/photo.bin')), '404 NOT_FOUND')
  t.deepEqual((await space.list()).data, { folders: [], objects: [] })
})

test('objects: the key may precede or follow the file, and is the file’s name by default', async (t) => {
  const { space, org } = await opened()
  const behind = new FormData()
  behind.append('file', new Blob(['x']), 'ignored.txt')
  behind.append('key', 'behind.txt')
  t.is((await org.owner.post(`${space.path}/objects`, behind)).data.key, 'behind.txt')
  t.is((await org.owner.post(`${space.path}/objects`, formOf(null, 'x', 'text/plain', 'naïve 名.txt'))).data.key, 'naïve 名.txt')
  t.is(outcomeOf(await org.owner.post(`${space.path}/objects`, new FormData())), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await org.owner.post(`${space.path}/objects`, { key: 'a' })), '400 VALIDATION_ERROR')
})

test('objects: keys are checked by their rules', async (t) => {
  const { space } = await opened()
  const bad = ['/a', 'a//b', 'a\\b', 'a\u0007b', 'a\u0085b', 'a/', `${'ü'.repeat(512)}a`, 'a\u0000b']
  for (const key of bad) t.is(outcomeOf(await space.put(key)), '400 VALIDATION_ERROR', JSON.stringify(key))
  for (const key of ['ü'.repeat(512), '..', '../../etc/passwd', 'a/./b', 'con', 'a.', ' ', '%2e%2e', '\u202Etxt.exe', '😀']) {
    t.is((await space.put(key, key)).status, 201, key)
    t.is((await space.download(key)).text, key, key)
  }
  t.is(outcomeOf(await space.makeFolder('a')), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await space.list({ prefix: 'a' })), '400 VALIDATION_ERROR')
})

test('objects: letters that look alike make different keys, and wildcards have no meaning', async (t) => {
  const { space } = await opened()
  const keys = ['\u00e9', 'E', 'e', 'a_b/x', 'a%b/x', 'aab/x', 'A/x', 'a/x', 'images/1', 'images2/1']
  for (const key of keys) t.is((await space.put(key)).status, 201)
  const { folders, keys: files } = await space.all()
  t.deepEqual(files, ['E', 'e', '\u00e9'])
  t.deepEqual(folders, ['A/', 'a%b/', 'a/', 'a_b/', 'aab/', 'images/', 'images2/'])
  t.deepEqual((await space.all('images/')).keys, ['images/1'])
  t.deepEqual((await space.all('a_b/')).keys, ['a_b/x'])
})

test('objects: a level is listed in pages, folders and files together in the order of their keys', async (t) => {
  const { space } = await opened()
  const keys = Array.from({ length: 30 }, (_, index) => `d/${index % 3 === 0 ? `f${index}/deep/x` : `k${index}`}`)
  for (const key of [...keys, 'd/f0/y', 'e', 'd0', 'd/f0-x']) t.is((await space.put(key)).status, 201)
  t.is((await space.makeFolder('d/')).status, 201)
  t.is((await space.makeFolder('d/made/')).status, 201)
  t.is((await space.makeFolder('d/made/')).status, 201)
  const whole = await space.all('d/')
  for (const limit of [1, 2, 7, 33, 34]) t.deepEqual(await space.all('d/', limit), whole, String(limit))
  t.is(whole.folders.length, 11)
  t.true(whole.folders.includes('d/made/') && whole.folders.includes('d/f0/'))
  t.is(whole.keys.length, 21)
  t.is((await space.list({ prefix: 'd/', limit: 32 })).data.cursor, undefined)
  const { cursor } = (await space.list({ prefix: 'd/', limit: 5 })).data
  t.is(outcomeOf(await space.list({ prefix: 'e/', limit: 5, cursor })), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await space.list({ limit: 201 })), '400 VALIDATION_ERROR')
})

test('objects: a level with many files between deep folders is listed completely, in pages of any size', async (t) => {
  const { space, w, org } = await opened()
  await space.put('d/seed')
  const runs = Array.from({ length: 700 }, (_, index) => `d/${String(index).padStart(3, '0')}`)
  const deep = runs.filter((_, index) => index % 170 < 3).map((key) => key.replace('d/', 'd/f'))
  const mixed = runs.map((key, index) => (index % 170 < 3 ? `${key}-` : key))
  const folders = mixed.filter((key) => key.endsWith('-')).concat(deep)
  const files = mixed.filter((key) => !key.endsWith('-'))
  const below = folders.flatMap((folder) => Array.from({ length: 40 }, (_, index) => `${folder}/${index}/x`))
  await addKeys(w.db, org.id, 'd/seed', [...files, ...below])
  const expected = { folders: folders.map((folder) => `${folder}/`).sort(), keys: [...files, 'd/seed'].sort() }
  for (const limit of [200, 131, 33]) t.deepEqual(await space.all('d/', limit), expected, String(limit))
})

test('objects: a search finds names in the folder and below, and ignores case', async (t) => {
  const { space } = await opened()
  for (const key of ['x/Report.PDF', 'x/y/my report.txt', 'x/report/other', 'z/ÄRGER.txt', 'x/100%_sure']) await space.put(key)
  const found = async (values: object) => (await space.list(values)).data.objects.map(({ key }: { key: string }) => key)
  t.deepEqual(await found({ q: 'report' }), ['x/Report.PDF', 'x/y/my report.txt'])
  t.deepEqual(await found({ q: 'REPORT', prefix: 'x/y/' }), ['x/y/my report.txt'])
  t.deepEqual(await found({ q: 'ärger' }), ['z/ÄRGER.txt'])
  t.deepEqual(await found({ q: '%_' }), ['x/100%_sure'])
  const { data } = await space.list({ q: 'r', limit: 2 })
  t.is(data.objects.length, 2)
  t.deepEqual(await found({ q: 'r', limit: 2, cursor: data.cursor }), ['x/report/other', 'x/y/my report.txt'])
})

test('objects: a search finds a file after thousands of others, and characters of patterns have no meaning', async (t) => {
  const { space, w, org } = await opened()
  await space.put('far/seed')
  const keys = Array.from({ length: 6_000 }, (_, index) => `far/${index % 100}/Page ${index}.txt`)
  await addKeys(w.db, org.id, 'far/seed', [...keys, 'z/100%_Sure.txt', 'z/100x_sure.txt', 'z/ÄRGER 1.txt', 'z/sure/other.txt'])
  const all = async (q: string, limit: number) => {
    const found: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { data } = await space.list({ q, limit, ...(cursor === '' ? {} : { cursor }) })
      found.push(...data.objects.map(({ key }: { key: string }) => key))
      cursor = data.cursor
    }
    return found
  }
  t.deepEqual(await all('ärger', 100), ['z/ÄRGER 1.txt'])
  t.deepEqual(await all('%_sure', 100), ['z/100%_Sure.txt'])
  t.deepEqual(await all('_SURE', 1), ['z/100%_Sure.txt', 'z/100x_sure.txt'])
  t.deepEqual(await all('Ä', 100), ['z/ÄRGER 1.txt'])
  t.deepEqual(await all('r 1.', 100), ['z/ÄRGER 1.txt'])
  t.deepEqual(await all('\\x', 100), [])
  t.deepEqual(await all('0x', 100), ['z/100x_sure.txt'])
  t.deepEqual(await all('%', 100), ['z/100%_Sure.txt'])
  for (const q of ['nothing', '100\\x', '%%', 'z/']) t.deepEqual(await all(q, 100), [], q)
  t.deepEqual(await all('page 59', 7), keys.filter((key) => key.includes('Page 59')).sort())
  t.is((await all('page', 200)).length, 6_000)
})

test('objects: a refused upload leaves no bytes', async (t) => {
  const { space, w, org } = await opened()
  t.is(outcomeOf(await space.put('/bad')), '400 VALIDATION_ERROR')
  t.is(await countLooseBlobs(w.db, org.id), 0)
})

test('objects: an Idempotency-Key uploads once, and covers the fields and the bytes', async (t) => {
  const { space } = await opened()
  const key = { 'idempotency-key': 'one' }
  const first = await space.put('once', 'x', 'text/plain', key)
  t.is(first.status, 201)
  t.deepEqual((await space.put('once', 'x', 'text/plain', key)).data, first.data)
  t.is((await space.put('once', 'x', 'text/plain', key)).status, 201)
  t.is(outcomeOf(await space.put('once', 'y', 'text/plain', key)), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await space.put('other', 'x', 'text/plain', key)), '400 VALIDATION_ERROR')
  t.is((await space.download('once')).text, 'x')
})

test('objects: spaces have unique keys, are renamed, and are deleted if they are empty and not built in', async (t) => {
  const { org } = await opened()
  const buckets = `${org.path}/drive/buckets`
  const { main, shared } = await firstSpaces(org.owner, org)
  for (const key of ['org', 'user-x', 'A', 'a', '-a', 'a_b', 'a'.repeat(64)]) {
    t.is(outcomeOf(await org.owner.post(buckets, { key, name: 'X', type: 'custom' })), '400 VALIDATION_ERROR', key)
  }
  t.is(outcomeOf(await org.owner.post(buckets, { key: 'ab', name: 'n'.repeat(121) })), '400 VALIDATION_ERROR')
  const id = await makeSpace(org.owner, org, 'a'.repeat(63))
  t.is(outcomeOf(await org.owner.post(buckets, { key: 'a'.repeat(63), name: 'X' })), '409 KEY_TAKEN')
  const space = spaceOf(org.owner, org, id)
  await space.makeFolder('empty/')
  await space.put('a')
  t.is(outcomeOf(await org.owner.delete(space.path)), '400 VALIDATION_ERROR')
  await space.remove('a')
  t.is((await org.owner.delete(space.path)).status, 204)
  t.is(outcomeOf(await space.list()), '404 NOT_FOUND')
  for (const id of [main, shared]) t.is(outcomeOf(await org.owner.delete(`${buckets}/${id}`)), '403 FORBIDDEN')
  const own = await org.owner.post(buckets, { type: 'personal', name: 'Mine too', key: 'ignored' })
  t.is(own.status, 201)
  t.is(own.data.type, 'user')
  t.is(outcomeOf(await org.owner.post(buckets, { type: 'personal' })), '400 VALIDATION_ERROR')
  t.is((await org.owner.delete(`${buckets}/${own.data.id}`)).status, 204)
})

test('objects: the overview shows the newest files and the storage used by type', async (t) => {
  const { w, org, space } = await opened()
  await space.put('a.txt', 'abc')
  await space.put('b.csv', 'a,b')
  await space.put('a.txt', 'abcde')
  const other = await createMember(w, org)
  const own = await firstSpaces(other.client, org)
  await spaceOf(other.client, org, own.main).put('secret.txt', 'hidden')
  const { data } = await org.owner.get(`${org.path}/drive/overview`)
  t.deepEqual(
    data.recent.map(({ key, bucket_key }: Record<string, string>) => [bucket_key, key]),
    [
      ['org', 'a.txt'],
      ['org', 'b.csv'],
    ],
  )
  t.deepEqual(data.types, [
    { content_type: 'text/plain', count: 1, bytes: 5 },
    { content_type: 'text/csv', count: 1, bytes: 3 },
  ])
  t.is((await org.owner.get(`${org.path}/drive/overview?limit=1`)).data.recent.length, 1)
  t.is((await other.client.get(`${org.path}/drive/overview`)).data.recent[0].key, 'secret.txt')
})
