import { randomUUID } from 'node:crypto'
import test from 'ava'
import { allow, createFunction, handlerOf } from '#test/features/functions/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const source = handlerOf('return input')

test('functions: a function is made, read, listed without its source, changed and deleted', async (t) => {
  const { org } = await fresh()
  const { owner, path } = org
  const made = await owner.post(`${path}/functions`, { name: 'Add', source })
  t.is(made.status, 201)
  t.like(made.data, { name: 'Add', description: '', source, timeout_ms: 5_000, enabled: true, http_enabled: false })
  const one = `${path}/functions/${made.data.id}`
  t.deepEqual((await owner.get(one)).data, made.data)
  const { source: _, ...listed } = made.data
  t.deepEqual((await owner.get(`${path}/functions`)).data, [listed])

  const settings = { name: 'Sum', description: 'Adds', timeout_ms: 200, enabled: false, http_enabled: true }
  const changed = await owner.put(one, settings)
  t.is(changed.status, 200)
  t.like(changed.data, { ...settings, source, created_at: made.data.created_at })
  t.true(changed.data.updated_at > made.data.updated_at)
  t.like((await owner.put(one, {})).data, { ...settings, source }, 'what is left out stays')
  t.like((await owner.put(one, { description: null, timeout_ms: null, enabled: null })).data, {
    description: '',
    timeout_ms: 5_000,
    enabled: false,
  })
  t.like((await owner.put(one, (await owner.get(one)).data)).data, { name: 'Sum' }, 'what was read can be sent back')

  t.is((await owner.delete(one)).status, 204)
  for (const answer of [owner.get(one), owner.put(one, { name: 'X' }), owner.delete(one), owner.post(`${one}/invoke`)]) {
    t.is((await answer).status, 404)
  }
  t.deepEqual((await owner.get(`${path}/functions`)).data, [])
})

test('functions: a time limit is clamped to its range', async (t) => {
  const { org } = await fresh()
  const cases = [
    [99, 100],
    [100, 100],
    [-1, 100],
    [30_000, 30_000],
    [30_001, 30_000],
    ['1e21', 30_000],
    [1_500.4, 1_500],
    ['2500.00', 2_500],
  ] as const
  const { id } = await createFunction(t, org, source)
  for (const [given, taken] of cases) {
    const body = `{"name": "x", "source": ${JSON.stringify(source)}, "timeout_ms": ${given}}`
    const headers = { 'content-type': 'application/json' }
    t.is((await org.owner.send('POST', `${org.path}/functions`, body, headers)).data.timeout_ms, taken, `${given}`)
    t.is((await org.owner.send('PUT', `${org.path}/functions/${id}`, body, headers)).data.timeout_ms, taken, `${given}`)
  }
})

test('functions: a missing, too long or wrong field is refused by its name', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(t, org, source)
  const good = { name: 'n'.repeat(120), description: '😀'.repeat(500), source }
  t.is((await org.owner.post(`${org.path}/functions`, good)).status, 201)
  const cases: readonly (readonly [RegExp, object])[] = [
    [/^name is required/, { source }],
    [/^source is required/, { name: 'x' }],
    [/^name must have at most 120/, { ...good, name: 'n'.repeat(121) }],
    [/^name must be a name of 1 to 120 characters in one line/, { ...good, name: '' }],
    [/^name must be a string/, { ...good, name: null }],
    [/^description must have at most 500/, { ...good, description: 'd'.repeat(501) }],
    [/^timeout_ms must be a number/, { ...good, timeout_ms: '5000' }],
    [/^http_enabled must be/, { ...good, http_enabled: 'yes' }],
    [/^source must be a string/, { ...good, source: 7 }],
    [/^source must have at most 256 KB/, { ...good, source: `${source}//${'é'.repeat(128 * 1024)}` }],
  ]
  for (const [message, body] of cases) {
    for (const answer of [await org.owner.post(`${org.path}/functions`, body), await org.owner.put(`${org.path}/functions/${id}`, body)]) {
      if (/required/.test(message.source) && answer.status === 200) continue
      t.is(answer.status, 400, message.source)
      t.regex(answer.body.error.message, message)
    }
  }
  t.is((await org.owner.get(`${org.path}/functions`)).data.length, 2)
})

test('functions: a source that does not parse or has no handler is refused with its position, and is not run', async (t) => {
  const { org } = await fresh()
  const { id } = await createFunction(t, org, source)
  const cases: readonly (readonly [string, RegExp])[] = [
    ['function handler( {', /^source, line 1, column \d+: /],
    ['const a = 1\nlet a', /^source, line 2, column 5: .*already been declared/],
    ['const other = () => 1', /^source, line 1, column 1: the source must define a function named handler/],
    ['const handler = 1', /^source, line 1, column 17: handler must be a function/],
    ['', /must define a function named handler/],
    ["import fs from 'fs'\nfunction handler() {}", /^source, line 1/],
  ]
  for (const [bad, message] of cases) {
    for (const answer of [
      await org.owner.post(`${org.path}/functions`, { name: 'x', source: bad }),
      await org.owner.put(`${org.path}/functions/${id}`, { name: 'changed', source: bad }),
    ]) {
      t.is(answer.status, 400, bad)
      t.is(answer.body.error.code, 'VALIDATION_ERROR')
      t.regex(answer.body.error.message, message)
    }
  }
  t.like((await org.owner.get(`${org.path}/functions/${id}`)).data, { name: 'Test', source, version: 1 })
  t.is((await org.owner.post(`${org.path}/functions`, { name: 'x', source: 'for (;;) {} function handler() {}' })).status, 201)
})

test('functions: a source of exactly 256 KB is accepted', async (t) => {
  const { org } = await fresh()
  const whole = `${source}//`.padEnd(256 * 1024, 'x')
  t.is((await createFunction(t, org, whole)).source, whole)
})

test('functions: a change of the source makes its caller the author, and no other change does', async (t) => {
  const w = await fresh()
  const { org } = w
  const { client, id: clerk } = await createMember(w, org, [allow('functions:create', 'functions:read')])
  const { id } = await createFunction(t, org, source)
  const one = `${org.path}/functions/${id}`
  t.like((await client.put(one, { name: 'Mine', enabled: false, source })).data, { author_id: org.ownerId, version: 1 })
  t.like((await client.put(one, { source: `${source} ` })).data, { author_id: clerk, version: 2, name: 'Mine' })
  t.like((await client.post(`${org.path}/functions`, { name: 'x', source })).data, { author_id: clerk, version: 1 })
})

test('functions: each route checks its permission, and a role may be limited to one function', async (t) => {
  const w = await fresh()
  const { org } = w
  const [open, closed] = [await createFunction(t, org, source), await createFunction(t, org, source)]
  const all = `${org.path}/functions`
  const routes = (id: string): readonly (readonly [string, string, string, object?])[] => [
    ['functions:create', 'POST', all, { name: 'x', source }],
    ['functions:read', 'GET', `${all}/${id}`],
    ['functions:create', 'PUT', `${all}/${id}`, {}],
    ['functions:invoke', 'POST', `${all}/${id}/invoke`, {}],
    ['functions:read', 'GET', `${all}/${id}/runs`],
    ['functions:read', 'GET', `${all}/${id}/versions`],
    ['functions:read', 'GET', `${all}/${id}/versions/1`],
    ['functions:create', 'POST', `${all}/${id}/versions/1/restore`],
    ['functions:create', 'GET', `${all}/secrets`],
    ['functions:create', 'PUT', `${all}/secrets/a`, { value: 'x' }],
    ['functions:create', 'DELETE', `${all}/secrets/a`],
    ['functions:create', 'DELETE', `${all}/${id}`],
  ]
  const names = ['functions:create', 'functions:read', 'functions:invoke']
  for (const name of names) {
    const { client } = await createMember(w, org, [allow(...names.filter((other) => other !== name))])
    for (const [permission, method, path, body] of routes(open.id)) {
      if (permission !== name) continue
      const answer = await client.send(method, path, body)
      t.is(answer.status, 403, `${method} ${path}`)
      t.regex(answer.body.error.message, new RegExp(permission))
    }
  }
  const { client: nobody } = await createMember(w, org)
  t.is((await nobody.get(all)).status, 403)
  t.is((await nobody.get(`${all}/sdk.d.ts`)).status, 403)

  const { client: one } = await createMember(w, org, [{ ...allow(...names), resources: [open.id] }])
  t.deepEqual(
    (await one.get(all)).data.map(({ id }: { id: string }) => id),
    [open.id],
  )
  t.is((await one.post(`${all}/${open.id}/invoke`)).status, 200)
  t.is((await one.post(`${all}/${closed.id}/invoke`)).status, 403)
  t.is((await one.get(`${all}/${closed.id}`)).status, 403)
  t.is((await one.post(all, { name: 'x', source })).status, 403)
})

test('functions: functions are 404 in another workspace and while the app is off', async (t) => {
  const w = await fresh()
  const { id } = await createFunction(t, w.org, source)
  const other = await createOrg(w)
  const paths = (path: string) => [
    ['GET', `${path}/functions/${id}`],
    ['PUT', `${path}/functions/${id}`],
    ['POST', `${path}/functions/${id}/invoke`],
    ['GET', `${path}/functions/${id}/runs`],
    ['DELETE', `${path}/functions/${id}`],
  ]
  for (const [method = '', path = ''] of paths(other.path))
    t.is((await other.owner.send(method, path, method === 'GET' ? undefined : {})).status, 404)
  for (const bad of ['x', randomUUID(), '%00', 'secretsx']) {
    const answer = await w.org.owner.get(`${w.org.path}/functions/${bad}`)
    t.is(answer.status, bad === '%00' ? 400 : 404)
  }

  t.is((await w.org.owner.patch(w.org.path, { apps: { functions: false } })).status, 200)
  const all = [
    ...paths(w.org.path),
    ['GET', `${w.org.path}/functions`],
    ['GET', `${w.org.path}/functions/secrets`],
    ['GET', `${w.org.path}/functions/sdk.d.ts`],
  ]
  for (const [method = '', path = ''] of all)
    t.is((await w.org.owner.send(method, path, method === 'GET' ? undefined : {})).status, 404, path)
  t.is((await w.visitor.get(`/fn/${w.org.id}/${id}`)).status, 404)
})
