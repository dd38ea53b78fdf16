import test from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('names: the name of a thing is one line with a visible character', async (t) => {
  const { owner, path } = await createOrg(await start())
  const source = 'const handler = () => 1'
  let made = 0
  const things: Readonly<Record<string, (name: string) => [string, object]>> = {
    role: (name) => ['/iam/groups', { name, policy: [] }],
    module: (name) => ['/modules', { slug: `m${++made}`, name }],
    space: (name) => ['/drive/buckets', { key: `s${++made}`, name }],
    function: (name) => ['/functions', { name, source }],
    flow: (name) => ['/flows', { name, nodes: [], edges: [] }],
    queue: (name) => ['/queues', { key: `q${++made}`, name }],
  }
  for (const [thing, bodyOf] of Object.entries(things)) {
    const create = async (name: string) => {
      const [route, body] = bodyOf(name)
      return owner.post(path + route, body)
    }
    for (const name of ['', 'a\nb', 'a\tb', 'a\u2028b', '\u007f', '   ', '\u00a0', '\u200b', '\u2800']) {
      const refused = await create(name)
      t.is(refused.status, 400, `${thing} ${JSON.stringify(name)}: ${refused.text}`)
      t.regex(refused.body.error.message, /^name must /)
    }
    for (const name of ['Ä', 'a b', '😀', 'zero\u200bwidth']) t.is((await create(name)).status, 201, `${thing} ${JSON.stringify(name)}`)
  }
})
