import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { countRows } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { storedFiles, sweepNow } from '#test/support/stored-files.ts'
import { type RawAnswer, sendRaw, Wire } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { key: 'world of multipart' })

/** A world that no other file uses and, until the test ends, a folder for temporary files that no other process writes to. */
async function open(t: ExecutionContext): Promise<World> {
  const w = await shared()
  const usual = process.env.TMPDIR
  const own = mkdtempSync(join(tmpdir(), 'kontor-multipart-'))
  process.env.TMPDIR = own
  t.teardown(() => {
    rmSync(own, { recursive: true })
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  })
  return w
}

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'multipart')
const line = (w: World) => `POST ${w.org.path}/records/locations/import HTTP/1.1`
const bearer = (w: World) => `Authorization: Bearer ${w.org.owner.token}`

const disposition = (name: string, rest = '; filename="a.csv"') => `Content-Disposition: form-data; name="${name}"${rest}`
const file = (text: string, name = 'file', rest?: string) =>
  `--b\r\n${disposition(name, rest)}\r\nContent-Type: text/csv\r\n\r\n${text}\r\n`
const field = (name: string, value = 'x') => `--b\r\n${disposition(name, '')}\r\n\r\n${value}\r\n`

/** Sends a form whose parts are separated by `b`. */
const sendForm = (w: World, body: string, type = 'multipart/form-data; boundary=b'): Promise<RawAnswer> =>
  sendRaw(w.api.port, line(w), [bearer(w), `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body, 'latin1')}`], body)

/** An answered upload leaves no row, no bytes in the store and no temporary file. */
async function nothingLeft(t: ExecutionContext, w: World): Promise<void> {
  await w.drain()
  t.is(await countRows(w.db, 'job_files'), 0)
  await sweepNow(w)
  t.is(await countRows(w.db, 'blobs'), 0)
  t.deepEqual(await storedFiles(w), [])
  t.deepEqual(readdirSync(tmpdir()), [])
}

test('multipart: multipart requests of other servers’ tests are answered and leave nothing behind', async (t) => {
  const w = await open(t)
  for (const name of readdirSync(folder)) {
    const request = readFileSync(join(folder, name), 'latin1')
    const split = request.indexOf('\r\n\r\n')
    const headers = request
      .slice(0, split)
      .split('\r\n')
      .slice(1)
      .filter((header) => /^content-type/i.test(header))
    const body = request.slice(split + 4).replace(/(?<=[; ]name=)(?:"[^"]*"|\w+)/, '"file"')
    const answer = await sendRaw(w.api.port, line(w), [bearer(w), ...headers, `Content-Length: ${body.length}`], body)
    t.true([200, 400].includes(answer.status), `${name} answered ${answer.status}: ${answer.text}`)
    await nothingLeft(t, w)
  }
})

test('multipart: the part named file is the file, whatever surrounds it', async (t) => {
  const w = await open(t)
  const csv = 'name\r\nx\r\n'
  const forms = {
    alone: `${file(csv)}--b--\r\n`,
    'without a line at the end': `${file(csv)}--b--`,
    'with text before and after': `before\r\n${file(csv)}--b--\r\nafter`,
    'without a file name': `${file(csv, 'file', '')}--b--\r\n`,
    'with an empty file name': `${file(csv, 'file', '; filename=""')}--b--\r\n`,
    'with a path as file name': `${file(csv, 'file', '; filename="../../etc/passwd"')}--b--\r\n`,
    'with quotes and more in the file name': `${file(csv, 'file', '; filename="a\\"b%22;c.csv"; filename*=UTF-8\'\'%e2%82%ac')}--b--\r\n`,
  }
  for (const [name, body] of Object.entries(forms)) {
    const answer = await sendForm(w, body)
    t.is(answer.status, 200, `${name}: ${answer.text}`)
    t.is(answer.body.data.created, 1, name)
  }
  const longHeader = `--b\r\nContent-Disposition: form-data; name="file"; x="${'x'.repeat(200_000)}"\r\n\r\n${csv}\r\n--b--`
  t.is((await sendForm(w, longHeader)).status, 200)
  t.is((await sendForm(w, `--"b"\r\n${file(csv).slice(5)}--"b"--`, 'multipart/form-data; boundary="\\"b\\""')).status < 500, true)
})

test('multipart: a part that is neither the file nor a field of the route is named, and nothing is left behind', async (t) => {
  const w = await open(t)
  const csv = 'name\r\nx\r\n'
  const forms = {
    fil: `${field('fil')}${file(csv)}--b--\r\n`,
    kye: `${file(csv)}${field('kye')}--b--\r\n`,
    ['__proto__']: `${field('__proto__')}${file(csv)}--b--\r\n`,
    other: `${file('other', 'other')}${file(csv)}--b--\r\n`,
    another: `${file(csv)}${file('another', 'another')}--b--\r\n`,
  }
  for (const [name, body] of Object.entries(forms)) {
    const answer = await sendForm(w, body)
    t.is(answer.status, 400, `${name}: ${answer.text}`)
    t.is(answer.body.error.message, `${name} is no key of this form; did you mean file?`)
    await nothingLeft(t, w)
  }
})

test('multipart: the key of a file is sent once, and a name that is the key must be UTF-8', async (t) => {
  const w = await open(t)
  const send = async (body: string) => {
    const headers = [bearer(w), 'Content-Type: multipart/form-data; boundary=b', `Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
    return sendRaw(w.api.port, `POST ${w.org.path}/drive/buckets/org/objects HTTP/1.1`, headers, body)
  }
  const twice = await send(`${field('key', 'a')}${field('key', 'b')}${file('x')}--b--\r\n`)
  t.is(twice.status, 400)
  t.is(twice.body.error.message, 'key must be sent once')
  const latin1 = await send(`${file('x', 'file', '; filename="r\u00e4.txt"')}--b--\r\n`)
  t.is(latin1.status, 400)
  t.regex(latin1.body.error.message, /^the name of the file must be UTF-8/)
  t.is((await send(`${file('x', 'file', '; filename="r\u00e4.txt"')}${field('key', 'a')}--b--\r\n`)).body.data.key, 'a')
  t.is((await send(`${file('x', 'file', '; filename="r\u00c3\u00a4.txt"')}--b--\r\n`)).body.data.key, 'rä.txt')
  for (const key of ['a', 'rä.txt']) {
    t.is((await w.org.owner.delete(`${w.org.path}/drive/buckets/org/objects?key=${encodeURIComponent(key)}`)).status, 200)
  }
  await nothingLeft(t, w)
})

test('multipart: a broken form or one without the file is refused with 400 and leaves nothing behind', async (t) => {
  const w = await open(t)
  const csv = 'name\r\nx\r\n'
  const forms = {
    'no part': '--b--\r\n',
    nothing: '',
    'only a field': `${field('a')}--b--\r\n`,
    'a file of another name': `${file(csv, 'upload')}--b--\r\n`,
    'two files': `${file(csv)}${file(csv)}--b--\r\n`,
    'a field that is no UTF-8': `${field('a', '\xff')}${file(csv)}--b--\r\n`,
    'a field with half a surrogate pair': `${file(csv)}${field('a', '\xed\xa0\x80')}--b--\r\n`,
    'a field that is too long': `${field('a', 'x'.repeat(65_537))}${file(csv)}--b--\r\n`,
    'too many fields': `${field('a').repeat(21)}${file(csv)}--b--\r\n`,
    'no end': file(csv),
    'no end within the file': file(csv).slice(0, -6),
    'no end within a header': '--b\r\nContent-Disposition: form-da',
    'another boundary': `${file(csv)}--b--\r\n`.replaceAll('--b', '--c'),
    'too many parts': `${field('a').repeat(40)}${file(csv)}--b--\r\n`,
    'too many files': `${file(csv, 'other').repeat(10)}${file(csv)}--b--\r\n`,
    'headers without end': `--b\r\n${'X: y\r\n'.repeat(50_000)}\r\n${csv}\r\n--b--`,
  }
  for (const [name, body] of Object.entries(forms)) {
    const answer = await sendForm(w, body)
    t.is(answer.status, 400, `${name}: ${answer.text}`)
    await nothingLeft(t, w)
  }
  for (const type of [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary="',
    'multipart/mixed; boundary=b',
    'text/plain',
    '',
  ]) {
    t.is((await sendForm(w, `${file(csv)}--b--`, type)).status, 400, type)
  }
  const zipped = [bearer(w), 'Content-Type: multipart/form-data; boundary=b', 'Content-Encoding: gzip', 'Content-Length: 0']
  t.is((await sendRaw(w.api.port, line(w), zipped)).status, 400)
  await nothingLeft(t, w)
})

test('multipart: a file that is too large is refused with 400, with and without Content-Length, and leaves nothing behind', async (t) => {
  const w = await open(t)
  const limit = 25 * 1024 * 1024
  const csv = Buffer.alloc(limit + 1, 'name\r\n')
  const larger = Buffer.alloc(2 * limit, 'name\r\n')
  const path = `${w.org.path}/records/locations/import`
  const form = new FormData()
  form.append('file', new Blob([csv]), 'a.csv')
  const uploads: readonly (readonly [Uint8Array | FormData | ReadableStream, Record<string, string>])[] = [
    [csv, { 'content-type': 'text/csv' }],
    [new Blob([csv]).stream(), { 'content-type': 'text/csv' }],
    [new Blob([larger]).stream(), { 'content-type': 'text/csv' }],
    [form, {}],
  ]
  for (const [body, headers] of uploads) {
    const answer = await w.org.owner.post(path, body, headers)
    t.is(answer.status, 400, answer.text)
    t.is(answer.body.error.message, 'file must be at most 25 MB')
    await nothingLeft(t, w)
  }
})

test('multipart: an upload that breaks off leaves nothing behind and holds no connection', async (t) => {
  const w = await open(t)
  const large = 'name\r\n'.repeat(200_000)
  const bodies = {
    'multipart/form-data; boundary=b': file(large).slice(0, -10),
    'text/csv': large,
  }
  for (const [type, body] of Object.entries(bodies)) {
    const head = [line(w), 'Host: x', bearer(w), `Content-Type: ${type}`, 'Content-Length: 20000000']
    const wire = new Wire(w.api.port).send(`${head.join('\r\n')}\r\n\r\n`, body)
    const isThere = async () => (await storedFiles(w)).length !== 0
    await eventually(isThere)
    wire.breakOff()
    await eventually(async () => !(await isThere()))
    await nothingLeft(t, w)
  }
  t.is(w.api.services.database.pool.idleCount, w.api.services.database.pool.totalCount)
})
