import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createOrg, createService } from '#test/support/factories.ts'
import { expireAccessKey } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('not found: a browser gets a page for an unknown address; a program and the API get JSON', async (t) => {
  const w = await start()
  const page = await w.visitor.get('/nothing/here', browser)
  t.is(page.status, 404)
  t.regex(page.headers.get('content-type') ?? '', /^text\/html/)
  t.regex(page.text, /<h1><bdi>There is nothing here<\/bdi><\/h1>/)
  t.regex(page.text, /<code>NOT_FOUND<\/code>/)
  t.regex(page.text, /page\.css/)
  t.regex(page.headers.get('vary') ?? '', /Accept/i)
  for (const [path, headers] of [
    ['/nothing/here', {}],
    ['/nothing/here', { accept: '*/*' }],
    ['/nothing/here', { accept: 'application/json' }],
    ['/v1/nothing', browser],
  ] as const) {
    const answer = await w.visitor.get(path, headers)
    t.is(answer.status, 404)
    t.is(answer.body.error.code, 'NOT_FOUND')
  }
})

test('not found: a method that a path does not have is 404 and names its methods', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  const record = `${path}/records/accounts/${randomUUID()}`
  const messageFor = async (method: string, at: string) => {
    const { status, body } = await owner.send(method, at, {})
    t.is(status, 404)
    return body.error.message
  }
  t.is(
    await messageFor('PATCH', record),
    'This address has no PATCH; it has DELETE, GET, HEAD. Values of a record are changed by PUT …/records/{typeKey}/{recordId}/values',
  )
  t.is(await messageFor('PATCH', `${record}/values`), 'This address has no PATCH; it has GET, HEAD, PUT')
  t.is(await messageFor('PUT', `${path}/types`), 'This address has no PUT; it has GET, HEAD, POST')
  t.is(await messageFor('POST', '/healthz'), 'This address has no POST; it has GET, HEAD')
})

test('not found: a misspelled address is answered with the probable one', async (t) => {
  const w = await start()
  const { owner, path, id } = w.org
  const messageFor = async (at: string) => {
    const { status, body } = await owner.get(at)
    t.is(status, 404)
    return body.error.message
  }
  t.is(await messageFor(`/orgs/${id}/types`), `There is no such address; paths of the API begin with /v1: /v1/orgs/${id}/types`)
  for (const at of ['/v1/types', '/types'])
    t.is(await messageFor(at), 'There is no such address; paths of a workspace begin with /v1/orgs/{orgId}: /v1/orgs/{orgId}/types')
  t.is(await messageFor(`${path}/record/deals`), 'There is no such address; did you mean /v1/orgs/{orgId}/records/{typeKey}?')
  t.is(await messageFor(`${path}/quite/another/thing`), 'There is no such address; /docs/reference lists every address')
})

test('not found: a foreign workspace and a missing one get the same response, which says where to list one’s own', async (t) => {
  const w = await start()
  const other = await createOrg(w)
  const key = await createService(w, w.org, [])
  for (const client of [w.org.owner, key.client]) {
    for (const id of [other.id, randomUUID(), 'x']) {
      const { status, body } = await client.get(`/v1/orgs/${id}/types`)
      t.is(status, 404)
      t.is(body.error.message, 'No workspace of yours has this id; GET /v1/auth/me lists those that you may call')
    }
  }
})

test('not found: missing, malformed, unknown, expired and unsuitable credentials get different messages', async (t) => {
  const now = new Date()
  const w = await start()
  const { owner, path } = w.org
  const account = (await owner.post(`${path}/service-accounts`, { name: 'Short' })).data
  const soon = new Date(now.getTime() + 60_000).toISOString()
  const made = (await owner.post(`${path}/service-accounts/${account.id}/keys`, { expires_at: soon })).data
  const messageFor = async (headers: Record<string, string>, at = '/v1/auth/me') => {
    const { status, body } = await w.visitor.get(at, headers)
    t.is(status, 401)
    return body.error.message
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  t.is(await messageFor({}), 'Send a valid access key or session token as Authorization: Bearer')
  t.is(await messageFor({ authorization: made.key }), 'Authorization must read `Bearer`, a space, and an access key or session token')
  const unknown = 'The access key or session token is unknown: it was mistyped, revoked or signed out'
  t.is(await messageFor(bearer('kt_x')), unknown)
  t.is(await messageFor(bearer(`${made.key.slice(0, -1)}${made.key.endsWith('a') ? 'b' : 'a'}`)), unknown)
  t.is(
    await messageFor(bearer(made.key), '/v1/orgs'),
    'Only a person may do this: send a session token of POST /v1/auth/sign-in instead of an access key',
  )
  await expireAccessKey(w.db, made.id)
  t.regex(await messageFor(bearer(made.key)), /^The access key expired at \d{4}-.*Z; make another$/)
  await owner.delete(`${path}/service-accounts/${account.id}/keys/${made.id}`)
  t.is(await messageFor(bearer(made.key)), unknown)
})
