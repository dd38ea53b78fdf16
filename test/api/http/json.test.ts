import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { sections } from '#api/routes.ts'
import type { Client } from '#test/support/client.ts'
import { makeOperator } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const fresh = shareWorld(test)

const fixture = (path: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'fixtures', path), 'utf8'))

interface Document {
  readonly name: string
  readonly expect: 'accept' | 'reject' | 'either'
  readonly base64: string
}
// Empty text is not JSON but a valid request: an empty body is an empty object (docs/contract/conventions.md#request-bodies).
const documents = (fixture('json/json-test-suite.json') as readonly Document[]).filter(({ base64 }) => base64 !== '')

const json = { 'content-type': 'application/json' }
const noId = '0198c8f0-0000-7000-8000-000000000000'

/** The message of a body that is not JSON, or that no request may hold. */
const unreadable = /^body (?:is not valid JSON|must be UTF-8|is nested deeper|.*NUL character)|holds a NUL character or a lone surrogate$/

/** Every route that takes a JSON body, with ids that name only the workspace and a built-in type. */
function jsonRoutes({ org }: World): { method: string; path: string }[] {
  const names: Readonly<Record<string, string>> = { orgId: org.id, typeKey: 'invoices' }
  return sections.flatMap(({ base, routes }) =>
    routes
      .filter((route) => route.body && route.body !== 'any' && !(route.kind === 'delegate' && route.upload))
      .map(({ method, path }) => ({ method, path: base + path.replace(/:(\w+)/g, (_: string, name: string) => names[name] ?? noId) })),
  )
}

const send = (client: Client, { method, path }: { method: string; path: string }, body: string | Uint8Array) =>
  client.send(method, path, body, json)

test('json: every document of the JSON test suite is accepted or refused as specified, on several routes', async (t) => {
  const w = await fresh()
  const { data: record } = await w.org.owner.post(`${w.org.path}/records/invoices`)
  const routes = [
    { method: 'POST', path: `${w.org.path}/records/invoices` },
    { method: 'PUT', path: `${w.org.path}/records/invoices/${record.id}/values` },
    { method: 'POST', path: `${w.org.path}/types` },
  ]
  for (const { name, expect, base64 } of documents) {
    for (const route of routes) {
      const answer = await send(w.org.owner, route, Buffer.from(base64, 'base64'))
      t.true(answer.status < 500, `${name} answered ${answer.status}: ${answer.text}`)
      const isRead = answer.status < 300 || !unreadable.test(answer.body.error.message)
      // Escaped NUL characters are JSON, but Kontor accepts no text with them.
      const isText = !Buffer.from(base64, 'base64').toString().replaceAll('\\\\', '').includes('\\u0000')
      if (expect === 'accept') t.is(isRead, isText, `${name}: ${answer.text}`)
      if (expect === 'reject') t.is(answer.status, 400, name)
      if (expect === 'reject') t.false(isRead, `${name}: ${answer.text}`)
    }
  }
})

test('json: every route that takes JSON refuses invalid JSON, and answers hostile JSON', async (t) => {
  const w = await fresh()
  await makeOperator(w, w.org.ownerId)
  const hostile = [
    ...(fixture('strings/prototype-pollution.json') as { json?: string }[]).flatMap(({ json }) => json ?? []),
    '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
    '{"values": {"__proto__": {"polluted": true}, "constructor": 1, "toString": null, "hasOwnProperty": "x"}}',
    `${'['.repeat(100_000)}`,
    '{"name": 1e400, "key": -0, "label": 123456789012345678901234567890}',
  ]
  for (const route of jsonRoutes(w)) {
    const broken = await send(w.org.owner, route, '{"a":')
    t.true([400, 404, 429].includes(broken.status), `${route.method} ${route.path} answered ${broken.status}: ${broken.text}`)
    for (const body of hostile) {
      const answer = await send(w.org.owner, route, body)
      t.true(answer.status < 500, `${route.method} ${route.path} answered ${answer.status} to ${body.slice(0, 100)}: ${answer.text}`)
    }
  }
  t.is(({} as { polluted?: boolean }).polluted, undefined)
  t.deepEqual(Object.keys(Object.prototype), [])
  t.is((await w.org.owner.get(w.org.path)).status, 200)
})

test('json: names of object members are keys like all others', async (t) => {
  const w = await fresh()
  for (const key of ['__proto__', 'constructor', 'toString']) {
    const answer = await w.org.owner.post(`${w.org.path}/records/invoices`, `{"values": {"${key}": "x"}}`, json)
    t.is(answer.status, 400, key)
    t.true(answer.body.error.message.includes(`values.${key}`), answer.text)
  }
})

test('json: every naughty string is returned as it was sent', async (t) => {
  const w = await fresh()
  const records = `${w.org.path}/records/locations`
  const strings = (fixture('strings/naughty-strings.json') as string[]).filter((text) => text !== '' && [...text].length <= 500)
  for (const text of strings) {
    const made = await w.org.owner.post(records, { values: { name: text } })
    t.is(made.status, 201, `${JSON.stringify(text)}: ${made.text}`)
    t.is(made.data.values.name, text)
    const filter = encodeURIComponent(JSON.stringify([{ field: 'name', op: 'eq', value: text }]))
    const found = await w.org.owner.get(`${records}?filter=${filter}&q=${encodeURIComponent([...text].slice(0, 100).join(''))}`)
    t.is(found.status, 200, `${JSON.stringify(text)}: ${found.text}`)
    t.true(
      found.data.records.some(({ values }: { values: { name: string } }) => values.name === text),
      JSON.stringify(text),
    )
  }
})

test('json: no text contains a NUL character or a lone surrogate, in any position', async (t) => {
  const w = await fresh()
  const records = `${w.org.path}/records/locations`
  for (const bad of ['\\u0000', '\\ud800', '\\udc00x', 'x\\udbff']) {
    for (const body of [
      `{"values": {"name": "a${bad}"}}`,
      `{"values": {"name": "a", "${bad}": 1}}`,
      `{"${bad}": 1}`,
      `{"x": [["${bad}"]]}`,
    ]) {
      const answer = await w.org.owner.post(records, body, json)
      t.is(answer.status, 400, body)
      t.regex(answer.body.error.message, /NUL character or a lone surrogate/)
    }
  }
  t.is((await w.org.owner.post(records, '{"values": {"name": "\\ud83d\\ude00"}}', json)).status, 201)
})
