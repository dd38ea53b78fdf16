import test from 'ava'
import { BodyMemory } from '#api/http/request/body-memory.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { Wire } from '#test/support/wire.ts'

const fresh = shareWorld(test)

/** Opens a body that adds its name to `refused` when it is refused. */
const opener = (memory: BodyMemory, refused: string[]) => (client: string, name: string) =>
  memory.open(client, ({ code }) => refused.push(`${name} ${code}`))

test('body memory: beyond the bound, the client that holds most loses its oldest bodies', (t) => {
  const refused: string[] = []
  const open = opener(new BodyMemory(100), refused)
  const [first, second, other] = [open('a', 'first'), open('a', 'second'), open('b', 'other')]
  first.hold(30)
  second.hold(40)
  other.hold(30)
  t.deepEqual(refused, [])
  other.hold(20)
  t.deepEqual(refused, ['first OVERLOADED'])
  other.hold(25)
  t.deepEqual(refused, ['first OVERLOADED', 'other OVERLOADED'], 'b holds more than a')
  first.hold(1_000)
  t.is(refused.length, 2, 'what arrives of a refused body does not count')
})

test('body memory: a body that has arrived leaves its room to others', (t) => {
  const refused: string[] = []
  const open = opener(new BodyMemory(100), refused)
  for (let index = 0; index < 10; index++) {
    const body = open('a', String(index))
    body.hold(90)
    body.release()
    body.release()
  }
  open('a', 'last').hold(100)
  t.deepEqual(refused, [])
})

test('body memory: bodies that stop before their end are refused when they hold 64 MB, and others are served', async (t) => {
  const w = await fresh()
  const megabyte = 1024 * 1024
  const json = [
    `POST ${w.org.path}/records/locations HTTP/1.1`,
    `Authorization: Bearer ${w.org.owner.token}`,
    'Content-Type: application/json',
  ]
  const raw = [`POST /webhooks/payments/${w.org.id} HTTP/1.1`]
  const wires = Array.from({ length: 68 }, (_, index) => {
    const head = [...(index % 2 ? json : raw), 'Host: x', 'Connection: close', `Content-Length: ${megabyte}`]
    return new Wire(w.api.port).send(`${head.join('\r\n')}\r\n\r\n`, Buffer.alloc(megabyte - 1, ' '))
  })
  t.teardown(() => wires.map((wire) => wire.breakOff()))
  const answer = await Promise.race(wires.map((wire) => wire.answer()))
  t.is(answer.status, 503)
  t.is(answer.body.error.code, 'OVERLOADED')
  t.is(answer.headers.get('retry-after'), '1')
  t.is((await w.org.owner.post(`${w.org.path}/records/locations`, { values: { name: 'x' } })).status, 201)
})
