import { createHash } from 'node:crypto'
import test from 'ava'
import { makeSite, putDocument, putFile } from '#test/features/sites/making.ts'
import { createMember } from '#test/support/factories.ts'
import { setPlan } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1', FREE_FILE_BYTES: '1000', DRIVE_MAX_UPLOAD_BYTES: '2000000' })

test('sites: a website is created, read, changed and deleted', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const made = await owner.post(`${path}/sites`, { key: 'shop', name: ' Shop ' })
  t.is(made.status, 201)
  t.like(made.data, { key: 'shop', name: 'Shop', published: false })
  const one = `${path}/sites/${made.data.id}`
  t.like((await owner.patch(one, { published: true })).data, { key: 'shop', name: 'Shop', published: true })
  t.like((await owner.patch(one, { key: 'store', name: 'Store' })).data, { key: 'store', name: 'Store', published: true })
  t.deepEqual(
    (await owner.get(`${path}/sites`)).data.map(({ key }: { key: string }) => key),
    ['store'],
  )
  for (const wrong of [{ key: 'assets' }, { key: 'A' }, { key: 'x' }, { key: 'x'.repeat(65) }, { name: '' }, { published: 1 }]) {
    t.is((await owner.patch(one, wrong)).status, 400, JSON.stringify(wrong))
    t.is((await owner.post(`${path}/sites`, { key: 'new', name: 'New', ...wrong })).status, 400, JSON.stringify(wrong))
  }
  t.is((await owner.post(`${path}/sites`, { key: 'store', name: 'Twice' })).body.error.code, 'KEY_TAKEN')
  t.is((await owner.delete(one)).status, 204)
  t.is((await owner.get(one)).status, 404)
})

test('sites: a document is written, read, listed and deleted', async (t) => {
  const w = await start()
  const { owner } = w.org
  const site = await makeSite(w)
  const sent = { title: 'About', body: '<p>Us</p>', fields: { price: 1.5, tags: ['a'] }, published: false }
  const made = await owner.put(`${site.inside}/about/us`, sent)
  t.is(made.status, 201)
  t.like(made.data, { path: 'about/us', ...sent })
  const again = await owner.put(`${site.inside}/about/us`, { title: 'Other' })
  t.is(again.status, 200)
  t.like(again.data, { title: 'Other', body: '', fields: {}, published: false })
  t.true(again.data.updated_at > made.data.updated_at)
  t.deepEqual((await owner.get(`${site.inside}/about/us`)).data, again.data)
  await putDocument(w, site, 'about/')
  await putDocument(w, site, 'zebra')
  await putDocument(w, site, 'a%20b')
  const paths = async (query = '') => (await owner.get(`${site.inside}${query}`)).data.map(({ path }: { path: string }) => path)
  t.deepEqual(await paths(), ['a b', 'about/index', 'about/us', 'zebra'])
  t.deepEqual(await paths('?prefix=about/'), ['about/index', 'about/us'])
  t.deepEqual(await paths('?limit=2&after=about/index'), ['about/us', 'zebra'])
  for (const query of ['limit=0', 'limit=201', `prefix=${'x'.repeat(1_025)}`])
    t.is((await owner.get(`${site.inside}?${query}`)).status, 400)
  t.is((await owner.delete(`${site.inside}/zebra`)).status, 204)
  t.is((await owner.delete(`${site.inside}/zebra`)).status, 404)
  t.is((await owner.get(`${site.inside}/zebra`)).status, 404)
})

test('sites: invalid content is 400 and changes nothing', async (t) => {
  const w = await start()
  const { owner } = w.org
  const site = await makeSite(w)
  const json = { 'content-type': 'application/json' }
  const rows: readonly [string, RegExp][] = [
    ['{', /JSON/],
    ['[]', /body must be an object/],
    ['{"title": 5}', /title must be a string/],
    [JSON.stringify({ title: 'x'.repeat(501) }), /title must have at most 500/],
    ['{"fields": []}', /fields must be an object/],
    ['{"published": "yes"}', /published must be a boolean/],
    ['{"body": "\\u0000"}', /NUL/],
    [`{"body": "${'x'.repeat(1024 * 1024)}"}`, /at most 1048576 bytes/],
  ]
  for (const [body, expected] of rows) {
    const answer = await owner.put(`${site.inside}/x`, body, json)
    t.is(answer.status, 400, body.slice(0, 50))
    t.regex(answer.body.error.message, expected)
  }
  for (const path of ['a//b', 'a%2fb', 'a%0ab', 'a%5cb', 'x'.repeat(1_025)]) t.is((await putDocument(w, site, path)).status, 400, path)
  t.deepEqual((await owner.get(site.inside)).data, [])
})

test('sites: bytes are stored unchanged with their own type, and downloaded only as an attachment', async (t) => {
  const w = await start()
  const { owner } = w.org
  const site = await makeSite(w)
  const bytes = Buffer.from([0, 255, 1, 2, 3])
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const made = await putFile(w, `${site.inside}/data.bin`, bytes, 'application/x-own; charset=a')
  t.is(made.status, 201)
  t.like(made.data, { path: 'data.bin', content_type: 'application/x-own; charset=a', size: 5, sha256 })
  const read = await fetch(`${w.visitor.root}${site.inside}/data.bin`, { headers: { authorization: `Bearer ${owner.token}` } })
  t.deepEqual(Buffer.from(await read.arrayBuffer()), bytes)
  t.regex(read.headers.get('content-disposition') ?? '', /^attachment/)
  t.is(read.headers.get('content-security-policy'), "sandbox; default-src 'none'")
  t.is(read.headers.get('etag'), `"${sha256}"`)
  t.is((await putFile(w, `${site.inside}/d.json?raw=1`, '{ "a": 1 }', 'application/json')).data.content_type, 'application/json')
  t.like((await owner.get(site.inside)).data[0], { path: 'd.json', size: 10, title: null })
  // A document replaces a file, and a file a document.
  t.is((await putDocument(w, site, 'data.bin')).status, 200)
  t.is((await owner.get(`${site.inside}/data.bin`)).data.title, 'Title')
  t.is((await putFile(w, `${site.inside}/empty`, '', 'text/plain')).data.size, 0)
  t.is(
    (await putFile(w, `${site.inside}/form`, 'x', 'multipart/form-data; boundary=x')).data.content_type,
    'multipart/form-data; boundary=x',
  )
  const large = await putFile(w, `${site.inside}/large`, Buffer.alloc(2_000_001), 'text/plain')
  t.is(large.status, 400)
  t.regex(large.body.error.message, /file must be at most/)
  t.is((await putFile(w, `${site.inside}/large`, Buffer.alloc(2_000_000), 'text/plain')).status, 201)
})

test('sites: all files count towards the plan’s cap, and deleted files no longer do', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  await setPlan(w.db, w.org.id, 'free')
  const site = await makeSite(w)
  const put = (at: string, size: number) => putFile(w, at, Buffer.alloc(size), 'text/plain')
  t.is((await put(`${site.inside}/a`, 600)).status, 201)
  t.is((await put(`${path}/assets/b`, 401)).status, 402)
  t.is((await put(`${path}/assets/b`, 400)).status, 201)
  t.is((await put(`${site.inside}/c`, 1)).status, 402)
  t.is((await put(`${site.inside}/a`, 500)).status, 402)
  t.is((await putDocument(w, site, 'a')).status, 200)
  t.is((await put(`${site.inside}/a`, 600)).status, 200)
  t.is((await owner.delete(`${path}/assets/b`)).status, 204)
  t.is((await put(`${site.inside}/c`, 400)).status, 201)
  t.is((await owner.delete(`${path}/sites/${site.id}`)).status, 204)
  t.is((await put(`${path}/assets/b`, 1_000)).status, 201)
})

test('sites: a role may be limited to one website, or to the files shared by all websites', async (t) => {
  const w = await start()
  const [mine, other] = [await makeSite(w, 'mine'), await makeSite(w, 'other')]
  const { client } = await createMember(w, w.org, [{ effect: 'allow', actions: ['content:manage'], resources: ['mine'] }])
  t.is((await client.put(`${mine.inside}/x`, { title: 'x' })).status, 201)
  t.is((await client.put(`${other.inside}/x`, { title: 'x' })).status, 403)
  t.is((await client.put(`${w.org.path}/assets/x`, 'x', { 'content-type': 'text/plain' })).status, 403)
  t.is((await client.patch(`${w.org.path}/sites/${mine.id}`, { key: 'other2' })).status, 403)
  const { client: keeper } = await createMember(w, w.org, [{ effect: 'allow', actions: ['content:manage'], resources: ['assets'] }])
  t.is((await keeper.put(`${w.org.path}/assets/x`, 'x', { 'content-type': 'text/plain' })).status, 201)
  t.deepEqual((await keeper.get(`${w.org.path}/sites`)).data, [])
})
