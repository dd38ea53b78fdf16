import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw, Wire } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const megabyte = 1024 * 1024
const records = (w: World) => `${w.org.path}/records/locations`
const json = { 'content-type': 'application/json' }
const bearer = (w: World) => `Authorization: Bearer ${w.org.owner.token}`

/** A body of exactly so many bytes that creates a record. */
const bodyOf = (bytes: number): string => {
  const [start, end] = ['{"values": {"name": "x"}', '}']
  return start + ' '.repeat(bytes - start.length - end.length) + end
}

test('body: a body has at most 1 MB, however it is sent', async (t) => {
  const w = await fresh()
  t.is((await w.org.owner.post(records(w), bodyOf(megabyte), json)).status, 201)
  const over = await w.org.owner.post(records(w), bodyOf(megabyte + 1), json)
  t.is(over.status, 400)
  t.is(over.body.error.message, 'body must be at most 1 MB')
  const chunked = (bytes: number) => new Blob([bodyOf(bytes)]).stream()
  t.is((await w.org.owner.post(records(w), chunked(megabyte), json)).status, 201)
  t.is((await w.org.owner.post(records(w), chunked(megabyte + 1), json)).status, 400)
  t.is((await w.org.owner.post(records(w), chunked(20 * megabyte), json)).status, 400)
})

/** Requests whose body is refused before it has arrived, as header lines and the status. */
const refusedEarly = (w: World): readonly (readonly [name: string, path: string, headers: readonly string[], status: number])[] => [
  ['by size', records(w), [bearer(w), 'Content-Type: application/json'], 400],
  ['by content type', records(w), [bearer(w), 'Content-Type: text/plain'], 400],
  ['by compression', records(w), [bearer(w), 'Content-Type: application/json', 'Content-Encoding: gzip'], 400],
  ['by credentials', records(w), ['Content-Type: application/json'], 401],
  ['by path', '/v1/nowhere', [bearer(w)], 404],
  ['an import by size', `${records(w)}/import`, [bearer(w), 'Content-Type: text/csv'], 400],
  ['an import by credentials', `${records(w)}/import`, ['Content-Type: text/csv'], 401],
  ['a multipart import by size', `${records(w)}/import`, [bearer(w), 'Content-Type: multipart/form-data; boundary=b'], 400],
]

test('body: a client that reads only after it has sent a refused body gets its answer, and the connection ends', async (t) => {
  const w = await fresh()
  const bytes = 30 * megabyte
  for (const [name, path, headers, status] of refusedEarly(w)) {
    for (const connection of ['close', 'keep-alive']) {
      const wire = new Wire(w.api.port, true)
      const head = [`POST ${path} HTTP/1.1`, 'Host: x', `Connection: ${connection}`, ...headers, `Content-Length: ${bytes}`]
      wire.socket.write(`${head.join('\r\n')}\r\n\r\n`)
      for (let sent = 0; sent < bytes; sent += megabyte) {
        if (!wire.socket.write(Buffer.alloc(megabyte, 'a'))) await once(wire.socket, 'drain', { signal: AbortSignal.timeout(60_000) })
      }
      wire.socket.end()
      t.is((await wire.answer()).status, status, `${name}, ${connection}`)
    }
  }
})

test('body: an endless refused body is cut off after its response', async (t) => {
  const w = await fresh()
  const wire = new Wire(w.api.port)
  const head = [
    `POST ${records(w)} HTTP/1.1`,
    'Host: x',
    bearer(w),
    'Content-Type: application/json',
    `Content-Length: ${10 * 1024 * megabyte}`,
  ]
  wire.send(`${head.join('\r\n')}\r\n\r\n`, '{"values":')
  const sending = setInterval(() => wire.socket.writable && wire.socket.write('"x'.repeat(1000)), 20)
  const answer = await wire.answer()
  clearInterval(sending)
  t.false(wire.socket.readable)
  // A client that keeps sending may be reset before it reads the response; only the end of the connection counts.
  if (Number.isNaN(answer.status)) return
  t.is(answer.status, 400)
  t.is(answer.body.error.message, 'body must be at most 1 MB')
})

test('body: JSON has at most 100,000 values, and 20,000 different names', async (t) => {
  const w = await fresh()
  const simulate = `${w.org.path}/iam/simulate`
  const messageFor = async (attrs: string) => {
    const { status, body } = await w.org.owner.post(
      simulate,
      `{"user_id": "${w.org.ownerId}", "action": "records:read", "attrs": {"x": ${attrs}}}`,
      json,
    )
    return status === 200 ? 'taken' : body.error.message
  }
  const list = (items: number, item: (index: number) => string) => `[${Array.from({ length: items }, (_, index) => item(index)).join()}]`
  t.is(await messageFor(list(99_000, () => '1')), 'taken')
  t.is(await messageFor(list(100_001, () => '1')), 'body must have at most 100000 values')
  t.is(await messageFor(list(40_000, () => '{"a":1}')), 'taken')
  t.is(await messageFor(list(20_001, (index) => `{"${index}":1}`)), 'body must have at most 20000 different property names')
  t.regex(await messageFor(list(20_001, () => '1e9')), /^body must have at most 20000 numbers with an exponent/)
})

test('body: without credentials a body has at most 64 KB and 5,000 values', async (t) => {
  const w = await fresh()
  const messageFor = async (path: string, body: string) => (await w.visitor.post(path, body, json)).body?.error?.message
  const spaces = (bytes: number) => `{"email": "x"${' '.repeat(bytes - 14)}}`
  const list = (items: number) => `[${Array(items).fill('1').join()}]`
  t.is(await messageFor('/v1/auth/sign-in', spaces(64 * 1024)), 'password is required')
  t.is(await messageFor('/v1/auth/sign-in', spaces(64 * 1024 + 1)), 'body must be at most 64 KB')
  t.is(await messageFor('/v1/auth/sign-in', list(5_001)), 'body must have at most 5000 values')
})

test('body: JSON has at most 64 levels', async (t) => {
  const w = await fresh()
  const nested = (levels: number) =>
    `{"user_id": "${w.org.ownerId}", "action": "records:read", "attrs": {"x": ${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`
  const simulate = `${w.org.path}/iam/simulate`
  t.is((await w.org.owner.post(simulate, nested(64), json)).status, 200)
  const deeper = await w.org.owner.post(simulate, nested(65), json)
  t.is(deeper.status, 400)
  t.regex(deeper.body.error.message, /deeper than 64/)
  const inText = `{"values": {"name": "${'[{'.repeat(100)}"}}`
  t.is((await w.org.owner.post(records(w), inText, json)).status, 201)
})

test('body: a body with compression, another type or another encoding is refused', async (t) => {
  const w = await fresh()
  const good = '{"values": {"name": "x"}}'
  const cases: readonly (readonly [number, string | Uint8Array, Record<string, string>])[] = [
    [400, gzipSync(good), { ...json, 'content-encoding': 'gzip' }],
    [400, good, { ...json, 'content-encoding': 'br' }],
    [400, gzipSync(good), json],
    [201, good, { ...json, 'content-encoding': 'identity' }],
    [400, good, { 'content-type': 'text/plain' }],
    [400, good, { 'content-type': 'application/x-www-form-urlencoded' }],
    [400, good, { 'content-type': 'application/jsonx' }],
    [400, good, { 'content-type': '' }],
    [201, good, { 'content-type': 'application/json; charset=utf-8' }],
    [201, good, { 'content-type': 'Application/JSON' }],
    [201, good, { 'content-type': 'application/merge-patch+json' }],
    [400, Buffer.from(good, 'utf16le'), json],
    [400, Buffer.from('{"values": {"name": "\xe9"}}', 'latin1'), json],
    [400, Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]), json],
    [400, ' ', json],
  ]
  for (const [status, body, headers] of cases) {
    const answer = await w.org.owner.post(records(w), body, headers)
    t.is(answer.status, status, `${JSON.stringify(headers)} ${Buffer.from(body)}: ${answer.text}`)
  }
})

test('body: a body that ends early or contradicts its headers is refused', async (t) => {
  const w = await fresh()
  const headers = [bearer(w), 'Content-Type: application/json']
  const line = `POST ${records(w)} HTTP/1.1`
  const both = await sendRaw(w.api.port, line, [...headers, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')
  t.is(both.status, 400)
  const twice = await sendRaw(w.api.port, line, [...headers, 'Content-Length: 2', 'Content-Length: 3'], '{}')
  t.is(twice.status, 400)
  const badChunk = await sendRaw(w.api.port, line, [...headers, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')
  t.is(badChunk.status, 400)
  const wire = new Wire(w.api.port).send(`${[line, 'Host: x', ...headers, 'Content-Length: 100'].join('\r\n')}\r\n\r\n{"values"`)
  wire.socket.end()
  await wire.answer()
  t.is((await w.org.owner.get(records(w))).data.records.length, 0)
})
