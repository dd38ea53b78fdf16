import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { httpBlocksOf, openPlaceholders } from '#test/journeys/http-block.ts'
import { listening } from '#test/support/listening.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test, listening)
const folder = new URL('../../docs/contract/', import.meta.url)
const pages = readdirSync(folder)
  .map((name) => ({ name, blocks: httpBlocksOf(readFileSync(new URL(name, folder), 'utf8')) }))
  .filter(({ blocks }) => blocks.length > 0)

for (const { name, blocks } of pages) {
  test(`contract: the calls of ${name} have the status that it shows`, async (t) => {
    const w = await fresh()
    const placeholders = openPlaceholders(w.org.id)
    for (const { status, method, path, headers, body } of blocks) {
      const sent = body === undefined ? undefined : Buffer.from(placeholders.fill(body))
      const answer = await w.org.owner.send(method, placeholders.fill(path), sent, headers)
      t.is(answer.status, status, `${method} ${path}\n${answer.text}`)
      placeholders.learn(path, answer.data)
    }
    await w.drain()
  })
}

test('contract: a call that names no status or no earlier answer is found', (t) => {
  t.deepEqual(httpBlocksOf('```http\n# 201\nPOST /a?b=1\nX: y\n\n{\n\n  "c": 1}\n```\n```\n# 200\n```\n```http\n# 204\nDELETE /a\n```'), [
    { status: 201, method: 'POST', path: '/a?b=1', headers: { X: 'y' }, body: '{\n\n  "c": 1}' },
    { status: 204, method: 'DELETE', path: '/a', headers: {} },
  ])
  t.throws(() => httpBlocksOf('```http\nGET /a\n```'), { message: /begins with/ })
  const placeholders = openPlaceholders('o')
  placeholders.learn('/v1/orgs/{orgId}/fields', { id: 'f', list: [{ id: 'g' }] })
  placeholders.learn('/v1/orgs/{orgId}/fields?limit=1', { fields: [] })
  t.is(placeholders.fill('/{orgId}/{fields.id}/{fields.list.0.id} {{item.key}}'), '/o/f/g {{item.key}}')
  t.throws(() => placeholders.fill('{types.id}'), { message: /No answer to a call of …\/types/ })
})
