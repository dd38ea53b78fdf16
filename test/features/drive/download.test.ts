import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse } from 'content-disposition'
import { addKeys } from '#test/features/drive/rows.ts'
import { firstSpaces, spaceOf } from '#test/features/drive/support.ts'
import { startS3 } from '#test/platform/blobs/s3-server.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { sweepNow } from '#test/support/stored-files.ts'
import { type World, world } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { pools: [] })

const stores = {
  disk: (_t: ExecutionContext) => shared(),
  s3: async (t: ExecutionContext) => own(t, (await startS3(t)).environment),
}

async function own(t: ExecutionContext, environment = {}): Promise<World> {
  const w = await world(environment, [])
  t.teardown(w.close)
  return w
}

const opened = async (t: ExecutionContext, kind: keyof typeof stores) => spaceIn(await stores[kind](t))
const spaceIn = async (w: World) => ({ w, space: spaceOf(w.org.owner, w.org, (await firstSpaces(w.org.owner, w.org)).main) })

const content = '0123456789\n'
const etag = `"${createHash('sha256').update(content).digest('hex')}"`

type Row = readonly [range: string, status: number, part?: readonly [start: number, end: number]]

/** net/http of Go, fs_test.go, ServeFileRangeTests (BSD-3), for a file of 11 bytes; where that answers several parts, here comes the whole. */
const ofGo: readonly Row[] = [
  ['', 200],
  ['bytes=0-4', 206, [0, 5]],
  ['bytes=2-', 206, [2, 11]],
  ['bytes=-5', 206, [6, 11]],
  ['bytes=3-7', 206, [3, 8]],
  ['bytes=0-0,-2', 200],
  ['bytes=0-1,5-8', 200],
  ['bytes=0-1,5-', 200],
  ['bytes=5-1000', 206, [5, 11]],
  ['bytes=0-,1-,2-,3-,4-', 200],
  ['bytes=0-9', 206, [0, 10]],
  ['bytes=0-10', 206, [0, 11]],
  ['bytes=0-11', 206, [0, 11]],
  ['bytes=10-11', 206, [10, 11]],
  ['bytes=10-', 206, [10, 11]],
  ['bytes=11-', 416],
  ['bytes=11-12', 416],
  ['bytes=12-12', 416],
  ['bytes=11-100', 416],
  ['bytes=12-100', 416],
  ['bytes=100-', 416],
  ['bytes=100-1000', 416],
]

const further: readonly Row[] = [
  ['bytes=-100', 206, [0, 11]],
  ['BYTES=0-4', 206, [0, 5]],
  ['bytes=0-1', 206, [0, 2]],
  ['bytes = 1-2 ', 206, [1, 3]],
  ['bytes=5-2', 200],
  ['bytes=-0', 416],
  ['bytes=20-30,40-50', 416],
  ['bytes=20-30,0-1', 200],
  ['bytes=', 200],
  ['bytes=-', 200],
  ['bytes=a-b', 200],
  ['bytes=0-1;', 200],
  ['lines=0-1', 200],
  ['0-1', 200],
  ['bytes=99999999999999999999-', 416],
  [`bytes=${Array.from({ length: 100 }, (_, index) => `${index}-${index}`).join(',')}`, 200],
]

for (const kind of Object.keys(stores) as (keyof typeof stores)[]) {
  test(`download: ${kind}: ranges`, async (t) => {
    const { space } = await opened(t, kind)
    await space.put('eleven.txt', content)
    await space.put('empty.txt', '')
    for (const [range, status, part] of [...ofGo, ...further]) {
      const { headers, text, ...answer } = await space.download('eleven.txt', range === '' ? {} : { range })
      t.is(answer.status, status, range)
      const expected = { 206: content.slice(part?.[0], part?.[1]), 200: content, 416: '' }[status] ?? 'none'
      t.is(text, expected, range)
      const said = { 206: `bytes ${part?.[0]}-${(part?.[1] ?? 0) - 1}/11`, 416: 'bytes */11' }[status]
      t.is(headers.get('content-range') ?? undefined, said, range)
      t.is(headers.get('accept-ranges'), 'bytes')
      t.is(headers.get('content-length'), String(text.length), range)
    }
    for (const range of ['bytes=0-', 'bytes=-1', 'bytes=0-0']) t.is((await space.download('empty.txt', { range })).status, 416, range)
    t.is((await space.download('empty.txt')).text, '')
  })
}

test('download: validators: ETag, If-None-Match, If-Range, Last-Modified and HEAD', async (t) => {
  const { w, space } = await opened(t, 'disk')
  const { data } = await space.put('a.txt', content)
  const { headers } = await space.download('a.txt')
  t.is(headers.get('etag'), etag)
  t.is(headers.get('last-modified'), new Date(data.updated_at).toUTCString())
  t.is(headers.get('cache-control'), 'private, no-cache')
  const fresh = { 'cache-control': 'max-age=0' }
  for (const list of [etag, `W/${etag}`, '*', `"x", ${etag}`]) {
    const { status, text, ...answer } = await space.download('a.txt', { 'if-none-match': list, ...fresh })
    t.is(status, 304, list)
    t.is(text, '')
    t.is(answer.headers.get('etag'), etag)
  }
  for (const list of ['"x"', etag.slice(1, -1)])
    t.is((await space.download('a.txt', { 'if-none-match': list, ...fresh })).status, 200, list)
  const range = 'bytes=0-1'
  t.is((await space.download('a.txt', { range, 'if-range': etag })).status, 206)
  for (const old of ['"old"', `W/${etag}`, headers.get('last-modified') ?? '']) {
    t.is((await space.download('a.txt', { range, 'if-range': old })).text, content, old)
  }
  const head = await w.org.owner.send('HEAD', `${space.path}/download?key=a.txt`, undefined, { range })
  t.is(head.status, 200)
  t.is(head.headers.get('content-length'), '11')
  for (const name of ['etag', 'content-type', 'content-disposition', 'last-modified', 'accept-ranges']) {
    t.is(head.headers.get(name), headers.get(name), name)
  }
  t.is((await w.org.owner.send('HEAD', `${space.path}/download?key=none`)).status, 404)
})

test('download: If-Match and If-Unmodified-Since of another version are 412, and precede If-None-Match and Range', async (t) => {
  const { space } = await opened(t, 'disk')
  await space.put('a.txt', content)
  const fresh = { 'cache-control': 'max-age=0' }
  const statusOf = async (headers: Record<string, string>) => (await space.download('a.txt', { ...fresh, ...headers })).status
  t.is(await statusOf({ 'if-match': etag }), 200)
  t.is(await statusOf({ 'if-match': '*' }), 200)
  t.is(await statusOf({ 'if-match': etag, 'if-none-match': etag }), 304)
  t.is(await statusOf({ 'if-match': etag, range: 'bytes=0-1' }), 206)
  const other = await space.download('a.txt', { ...fresh, 'if-match': '"other"', 'if-none-match': etag, range: 'bytes=0-1' })
  t.is(other.status, 412)
  t.is(other.body.error.code, 'PRECONDITION_FAILED')
  t.is(await statusOf({ 'if-match': `W/${etag}` }), 412)
  t.is(await statusOf({ 'if-unmodified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' }), 412)
  t.is(await statusOf({ 'if-unmodified-since': new Date(Date.now() + 3_600_000).toUTCString() }), 200)
})

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const html = '<!doctype html><script>alert(1)</script>'

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

/** Bytes, their name and type as uploaded, and the type that they are served with. */
const served: readonly (readonly [bytes: string | Buffer, name: string, said: string, type: string, isInline: boolean])[] = [
  ['text', 'a.txt', 'text/plain', 'text/plain; charset=utf-8', true],
  ['text', 'a', 'application/octet-stream', 'text/plain; charset=utf-8', true],
  [png, 'a.html', 'text/html', 'image/png', true],
  [Buffer.from('%PDF-1.7\n%\u00e2\u00e3'), 'a.pdf', 'text/plain', 'application/pdf', true],
  [Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVEfmt ', 'latin1'), 'a.wav', '', 'audio/wav', true],
  [html, 'a.png', 'image/png', 'text/html', false],
  [html, 'a.txt', 'text/plain', 'text/html', false],
  [`\ufeff \n${html}`, 'a.txt', 'text/plain', 'text/html', false],
  [`<!-- ${'x'.repeat(5_000)} -->${html}`, 'a.txt', 'text/plain', 'text/html', false],
  ['text', 'a.html', 'text/plain', 'text/html', false],
  ['text', 'a.txt', 'text/html', 'text/html', false],
  [svg, 'a.png', 'image/png', 'image/svg+xml', false],
  [`<?xml version="1.0"?>${svg}`, 'a.jpg', 'image/jpeg', 'image/svg+xml', false],
  ['<?xml version="1.0"?><a/>', 'a.txt', 'text/plain', 'application/xml', false],
  ['<html xmlns="http://www.w3.org/1999/xhtml"/>', 'a.xhtml', 'text/plain', 'application/xhtml+xml', false],
  ['alert(1)', 'a.js', 'text/plain', 'text/javascript', false],
  ['alert(1)', 'a.txt', 'application/javascript', 'application/javascript', false],
  ['a,b', 'a.csv', 'text/plain', 'text/csv', false],
  ['{}', 'a.json', 'text/plain', 'application/json', false],
  ...['c', 'js', 'html', '.html'].map((name) => ['text', name, 'text/plain', 'text/plain; charset=utf-8', true] as const),
  [utf16('Preis 3 €'), 'a.txt', 'text/plain', 'text/plain; charset=utf-8', true],
  [utf16('Preis 3 €').swap16(), 'a.txt', 'text/plain', 'text/plain; charset=utf-8', true],
  [utf16(`${'x'.repeat(2_048)}😀`), 'a.txt', '', 'text/plain; charset=utf-8', true],
  [utf16('a;b'), 'a.csv', 'text/plain', 'text/csv', false],
  [utf16(html), 'a.txt', 'text/plain', 'text/html', false],
  [utf16(svg).swap16(), 'a.txt', 'text/plain', 'image/svg+xml', false],
  [Buffer.from('feff00000001', 'hex'), 'a.txt', 'text/plain', 'application/octet-stream', false],
  [Buffer.from([0, 1, 2, 3]), 'a.txt', 'text/plain', 'application/octet-stream', false],
  [Buffer.from([0, 1, 2, 3]), 'a.png', 'image/png', 'application/octet-stream', false],
  [
    Buffer.from('PK\u0003\u0004rest', 'latin1'),
    'a.docx',
    '',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    false,
  ],
]

test('download: the bytes decide whether a file is shown or saved', async (t) => {
  const { space } = await opened(t, 'disk')
  for (const [bytes, name, said, type, isInline] of served) {
    await space.put(name, bytes, said)
    const { headers } = await space.download(name)
    const label = `${name} ${said} ${String(bytes).slice(0, 20)}`
    t.is(headers.get('content-type'), type, label)
    t.is(headers.get('content-disposition')?.split(';')[0], isInline ? 'inline' : 'attachment', label)
    t.is(headers.get('x-content-type-options'), 'nosniff', label)
    t.is(headers.get('content-security-policy'), /^audio/.test(type) ? null : "sandbox; default-src 'none'", label)
  }
})

test('download: names in every script are kept, without characters that change the text direction', async (t) => {
  const { space } = await opened(t, 'disk')
  const names = [
    'a b.txt',
    'ü.txt',
    '名前.txt',
    '😀.txt',
    'a"b.txt',
    "it's.txt",
    'a;b=c.txt',
    '%41.txt',
    'ملف.txt',
    '\u202Etxt.exe',
    'a\u2066b',
  ]
  for (const name of names) {
    await space.put(`folder/${name}`, 'x')
    const header = (await space.download(`folder/${name}`)).headers.get('content-disposition') ?? ''
    t.is(parse(header).parameters.filename, name.replaceAll(/[\u202E\u2066]/g, ''), header)
  }
})

const strings = join(import.meta.dirname, '..', '..', 'fixtures', 'strings')
const payloads = readFileSync(join(strings, 'xss-payloads.txt'), 'utf8').split('\n')
const naughty = JSON.parse(readFileSync(join(strings, 'naughty-strings.json'), 'utf8')) as readonly string[]

/** Names as hostile as a key allows, 300 of them. */
const hostile = [...new Set([...naughty, ...payloads].map((text) => text.replaceAll(/[\p{Cc}\\/]/gu, '')))]
  .filter((name) => name !== '' && name.isWellFormed() && Buffer.byteLength(name) < 1_000)
  .slice(0, 300)

test('download: 300 hostile names are unchanged in the header, and none ends it', async (t) => {
  const { w, space } = await opened(t, 'disk')
  await space.put('seed')
  t.is(hostile.length, 300)
  await addKeys(w.db, w.org.id, 'seed', hostile)
  for (const name of hostile) {
    const { status, headers } = await w.org.owner.send('HEAD', `${space.path}/download?${new URLSearchParams({ key: name })}`)
    t.is(status, 200, name)
    const header = headers.get('content-disposition') ?? ''
    t.regex(header, /^[\x20-\x7e\xa0-\xff]+$/, name)
    t.is(parse(header).parameters.filename, name.replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, ''), header)
    t.is(headers.get('x-content-type-options'), 'nosniff')
  }
})

test('download: a download in progress returns one whole version', async (t) => {
  const { w, space } = await spaceIn(await own(t))
  await space.put('a', 'a'.repeat(3_000_000))
  const address = `${w.org.owner.root}${space.path}/download?key=a`
  const begun = await Promise.all(
    Array.from({ length: 5 }, () => fetch(address, { headers: { authorization: `Bearer ${w.org.owner.token}` } })),
  )
  await space.put('a', 'b'.repeat(3_000_000))
  await space.remove('a')
  t.is(await sweepNow(w), 2)
  for (const answer of begun) {
    const bytes = Buffer.from(await answer.arrayBuffer())
    t.is(answer.headers.get('etag'), `"${createHash('sha256').update(bytes).digest('hex')}"`)
    t.is(bytes.toString(), 'a'.repeat(3_000_000))
  }
})
