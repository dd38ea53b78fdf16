import test from 'ava'
import { admitVisitors, type Made, makeSite, putDocument, putFile } from '#test/features/sites/making.ts'
import { deleteVisitorRole, readContentVersion } from '#test/features/sites/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })
const sandbox = 'sandbox allow-scripts allow-forms allow-popups'

async function begin(): Promise<{ w: World; site: Made; get: (path: string, headers?: Record<string, string>) => Promise<Answer> }> {
  const w = await start()
  await admitVisitors(w, ['shop', 'assets', 'hidden'])
  const site = await makeSite(w)
  return {
    w,
    site,
    get: (path, headers) => w.visitor.get(site.open + path, { ...fromAnywhere(), 'cache-control': 'max-age=0', ...headers }),
  }
}

test('deliver: a published document is delivered with its version, for sixty seconds', async (t) => {
  const { w, site, get } = await begin()
  await putDocument(w, site, 'about', { fields: { price: 12.5 } })
  const first = await get('/about')
  t.is(first.status, 200)
  t.deepEqual(Object.keys(first.data), ['path', 'title', 'body', 'fields', 'updated_at'])
  t.like(first.data, { path: 'about', title: 'Title', body: 'Body', fields: { price: 12.5 } })
  t.is(first.headers.get('cache-control'), 'public, max-age=60')
  t.is(first.headers.get('content-security-policy'), sandbox)
  t.is(first.headers.get('ratelimit-policy'), '"content";q=240;w=60')
  const etag = first.headers.get('etag') ?? ''
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const again = await get('/about', { 'if-none-match': known })
    t.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag], known)
  }
  t.is((await get('/about', { 'if-match': etag })).status, 200)
  t.is((await get('/about', { 'if-match': '"other"' })).body.error.code, 'PRECONDITION_FAILED')
  await putDocument(w, site, 'about', { fields: { price: 12.5 } })
  const changed = await get('/about', { 'if-none-match': etag })
  t.is(changed.status, 200)
  t.not(changed.headers.get('etag'), etag)
  const head = await w.visitor.send('HEAD', `${site.open}/about`, undefined, fromAnywhere())
  t.is(head.headers.get('etag'), changed.headers.get('etag'))
  const open = await get('/about', { origin: 'https://example.com' })
  t.is(open.headers.get('access-control-allow-origin'), '*')
})

test('deliver: an empty path, a slash and index are the same document; any other path is exact', async (t) => {
  const { w, site, get } = await begin()
  await putDocument(w, site, 'index', { title: 'Home' })
  await putDocument(w, site, 'about/index', { title: 'About' })
  for (const path of ['', '/', '/index']) t.is((await get(path)).data.title, 'Home', path)
  for (const path of ['/about/', '/about/index', '/%61bout/']) t.is((await get(path)).data.title, 'About', path)
  for (const path of ['/about', '/Index', '/index/', '/about//', '//index', '/about%2findex', '/a/..%2findex'])
    t.is((await get(path)).status, 404, path)
  for (const target of ['/about/../index', '/./index', '/a/%2e%2e/index']) {
    const answer = await sendRaw(w.api.port, `GET ${site.open}${target} HTTP/1.1`, [
      'Host: x',
      `X-Forwarded-For: 10.0.0.${Math.random() * 250}`,
    ])
    t.is(answer.status, 404, target)
  }
})

test('deliver: files are delivered with their own type, and all but pictures in an opaque origin', async (t) => {
  const { w, site, get } = await begin()
  const rows: readonly [string, string, string | null][] = [
    ['page.html', 'text/html; charset=utf-8', sandbox],
    ['a.js', 'application/javascript', sandbox],
    ['a.svg', 'image/svg+xml', sandbox],
    ['b.svg', 'IMAGE/SVG+XML; charset=utf-8', sandbox],
    ['a.xml', 'image/x+xml', sandbox],
    ['a.new', 'image/new', sandbox],
    ['b.png', 'IMAGE/PNG; a="text/html"', null],
    ['a.png', 'image/png', null],
    ['a.pdf', 'application/pdf', sandbox],
    ['odd', 'nonsense', sandbox],
  ]
  for (const [path, type, policy] of rows) {
    t.is((await putFile(w, `${site.inside}/${path}`, 'some bytes', type)).status, 201)
    const answer = await get(`/${path}`)
    t.is(answer.text, 'some bytes')
    t.is(answer.headers.get('content-type'), type === 'nonsense' ? 'application/octet-stream' : type, path)
    t.is(answer.headers.get('content-security-policy'), policy, path)
    t.is(answer.headers.get('x-content-type-options'), 'nosniff')
    t.is(answer.headers.get('cache-control'), 'public, max-age=60')
    const known = { 'if-none-match': answer.headers.get('etag') ?? '' }
    t.is((await get(`/${path}`, known)).status, 304)
    const part = await get(`/${path}`, { range: 'bytes=5-' })
    t.deepEqual([part.status, part.text, part.headers.get('content-security-policy')], [206, 'bytes', policy])
    t.is((await get(`/${path}`, { range: 'bytes=99-' })).status, 416)
  }
  await putFile(w, `${w.org.path}/assets/logo.png`, 'picture', 'image/png')
  const logo = await w.visitor.get(`/content/${w.org.id}/assets/logo.png`, fromAnywhere())
  t.deepEqual([logo.status, logo.text], [200, 'picture'])
})

test('deliver: twelve addresses of a draft get the same answer as a missing page', async (t) => {
  const { w, site, get } = await begin()
  await putDocument(w, site, 'draft', { published: false })
  await putDocument(w, site, 'draft/index', { published: false })
  const version = await readContentVersion(w.db, w.org.id, 'draft')
  const hidden = await makeSite(w, 'hidden', false)
  await putDocument(w, hidden, 'draft')
  const closed = await makeSite(w, 'closed')
  await putDocument(w, closed, 'draft')
  const elsewhere = (path: string) => w.visitor.get(path, { ...fromAnywhere(), 'cache-control': 'max-age=0' })
  const doors = [
    await get('/nothing-at-all'),
    await get('/draft'),
    await get('/draft/'),
    await get('/Draft'),
    await get('/%64raft'),
    await get('/draft?status=draft'),
    await get('/draft?raw=1&published=true'),
    await get('/draft', { 'if-none-match': `"${version}"` }),
    await get('/draft', { 'if-none-match': '*' }),
    await get('/draft', { range: 'bytes=0-' }),
    await elsewhere(`${hidden.open}/draft`),
    await elsewhere(`${closed.open}/draft`),
    await elsewhere(`/content/${w.org.id}/assets/draft`),
    await elsewhere(`/content/${w.org.id}/nowhere/draft`),
  ]
  const plain = ({ status, text, headers }: Answer) => {
    const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit', 'content-length'].includes(name))
    return JSON.stringify([status, kept, text.replaceAll(headers.get('x-request-id') ?? '', 'ID')])
  }
  t.deepEqual([...new Set(doors.map(plain))], [plain(doors[0] as Answer)])
  t.is(doors[0]?.status, 404)
  t.is((await w.visitor.send('HEAD', `${site.open}/draft`, undefined, fromAnywhere())).status, 404)
})

test('deliver: unpublished, moved or deleted content is 404 at once', async (t) => {
  const { w, site, get } = await begin()
  const { owner, path } = w.org
  const one = `${path}/sites/${site.id}`
  await putDocument(w, site, 'page')
  const seen = async () => (await get('/page')).status
  t.is(await seen(), 200)
  await owner.patch(one, { published: false })
  t.is(await seen(), 404)
  await owner.patch(one, { published: true })
  t.is(await seen(), 200)
  await putDocument(w, site, 'page', { published: false })
  t.is(await seen(), 404)
  await putDocument(w, site, 'page')
  t.is(await seen(), 200)
  await owner.patch(one, { key: 'moved' })
  t.is(await seen(), 404)
  await owner.patch(one, { key: 'shop' })
  await deleteVisitorRole(w.db, w.org.id)
  t.is(await seen(), 404)
})
