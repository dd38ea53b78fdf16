import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { sendRaw } from '#test/support/wire.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const records = (w: World) => `${w.org.path}/records/locations`
const bearer = (w: World) => `Authorization: Bearer ${w.org.owner.token}`

test('address: an unknown path or method is 404 in the usual form', async (t) => {
  const w = await fresh()
  const { owner } = w.org
  const cases: readonly (readonly [string, string])[] = [
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1/nowhere'],
    ['GET', '/v2/orgs'],
    ['GET', '/nowhere'],
    ['GET', '/V1/orgs'],
    ['GET', `/v1/ORGS/${w.org.id}/records/locations`],
    ['PATCH', records(w)],
    ['PROPFIND', records(w)],
    ['TRACE', '/v1/orgs'],
    ['OPTIONS', records(w)],
    ['OPTIONS', '*'],
    ['CONNECT', 'localhost:443'],
    ['FETCH', records(w)],
    ['POST', '/healthz'],
    ['GET', `${w.org.path}/records/locations/x/y/z`],
    ['GET', '/docs/nothing'],
  ]
  for (const [method, path] of cases) {
    const answer = await sendRaw(w.api.port, `${method} ${path} HTTP/1.1`, [bearer(w)])
    t.is(answer.status, 404, `${method} ${path}`)
    t.is(answer.body.error.code, 'NOT_FOUND')
  }
  t.is((await owner.get(`${w.org.path}/records/nothing`)).status, 404)
  const unheardOf = await sendRaw(w.api.port, `FROB ${records(w)} HTTP/1.1`, [bearer(w)])
  t.is(unheardOf.status, 404)
  t.is(unheardOf.body.error.code, 'NOT_FOUND')
})

test('address: a malformed id in a path is 404', async (t) => {
  const w = await fresh()
  const ids = [
    'x',
    '1',
    '%20',
    '%2e%2e',
    '..%2f..',
    '%E0%A4%A',
    '%ff',
    "'--",
    '%0d%0a',
    'null',
    'undefined',
    '0198c8f0-0000-7000-8000-00000000000g',
    'a'.repeat(5000),
  ]
  for (const id of ids) {
    for (const path of [
      `${records(w)}/${id}`,
      `/v1/orgs/${id}/records/locations`,
      `${w.org.path}/records/${id}`,
      `${w.org.path}/jobs/${id}`,
    ]) {
      const answer = await sendRaw(w.api.port, `GET ${path} HTTP/1.1`, [bearer(w)])
      t.is(answer.status, 404, path)
    }
  }
})

test('address: NUL or invalid UTF-8 in an address is 400', async (t) => {
  const w = await fresh()
  const addresses = [
    `${w.org.path}/records/loc%00ations`,
    `${records(w)}/%00`,
    `${records(w)}?q=a%00b`,
    `${records(w)}?unknown=%00`,
    `${records(w)}?%00=1`,
    `${records(w)}?q=%ff`,
    `${records(w)}?q=%ED%A0%80`,
    `${records(w)}?unknown=%c0%80`,
  ]
  for (const address of addresses) t.is((await w.org.owner.get(address)).status, 400, address)
  t.is((await w.org.owner.get(`${records(w)}?q=%EF%BF%BD`)).status, 200)
  t.is((await w.org.owner.get(`${records(w)}?q=100%`)).status, 200)
  t.is((await w.org.owner.get(`${records(w)}?q=%2500`)).status, 200)
})

test('address: a repeated, non-numeric or unknown parameter is 400', async (t) => {
  const w = await fresh()
  const status = async (query: string) => (await w.org.owner.get(`${records(w)}?${query}`)).status
  for (const limit of ['0', '201', '-1', '1.5', '1e2', '0x10', 'ten', '', '+5', '9'.repeat(30), '%D9%A1'])
    t.is(await status(`limit=${limit}`), 400, limit)
  t.is(await status('limit=1&limit=2'), 400)
  t.is(await status('limit=200'), 200)
  for (const unknown of ['limit[]', '__proto__', 'constructor[prototype]', 'hasOwnProperty'])
    t.is(await status(`limit=200&${unknown}=1`), 400, unknown)
  t.is(await status(`${'limit=1&'.repeat(2000)}x=1`), 400)
})

test('address: HEAD answers as GET does, without a body', async (t) => {
  const w = await fresh()
  await w.org.owner.post(records(w), { values: { name: 'x' } })
  for (const path of [records(w), `${records(w)}/export`, '/healthz', '/docs', '/openapi.json']) {
    const [get, head] = [await w.org.owner.get(path), await w.org.owner.send('HEAD', path)]
    t.is(head.status, 200, path)
    t.is(head.headers.get('content-type'), get.headers.get('content-type'))
    t.is(head.text, '')
  }
  t.is((await w.org.owner.send('HEAD', `${w.org.path}/records/nothing`)).status, 404)
  t.is((await w.visitor.send('HEAD', records(w))).status, 401)
})
