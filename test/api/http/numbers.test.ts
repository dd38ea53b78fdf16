import test from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

const json = { 'content-type': 'application/json' }
const queue = (id: string) => `{"name": "Dock ${id}", "stages": [{"key": "in", "label": "In", "kind": "start", "position": 1}]}`

test('numbers: a number is taken in any notation where a number is asked for', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const post = (address: string, body: string) => owner.post(`${path}/${address}`, body, json)
  const module = await post('modules', '{"slug": "a", "name": "A", "position": 100.0}')
  t.is(module.data?.position, 100, module.text)
  t.is((await post('modules', '{"slug": "b", "name": "B", "position": 1e-05}')).data.position, 0.00001)
  const flow = await post(
    'flows',
    '{"name": "F", "nodes": [{"id": "t", "type": "trigger.manual", "position": {"x": 10.0, "y": -1.50}}, ' +
      '{"id": "w", "type": "logic.wait", "config": {"minutes": 5e0}}], "edges": [{"source": "t", "target": "w"}]}',
  )
  t.is(flow.status, 201, flow.text)
  t.deepEqual([flow.data.nodes[0].position, flow.data.nodes[1].config, flow.data.problems], [{ x: 10, y: -1.5 }, { minutes: 5 }, []])
  const dock = await post(
    'queues',
    '{"name": "Dock", "stages": [{"key": "in", "label": "In", "kind": "start", "position": 1.0, "wip_limit": 5.0}]}',
  )
  t.like(dock.data?.stages[0], { position: 1, wip_limit: 5 }, dock.text)
  const added = await post(`queues/${dock.data.id}/items`, '{"items": [{"key": "p1", "priority": 5.0, "payload": {"weight": 1.50}}]}')
  t.is(added.status, 201, added.text)
  t.is((await post(`queues/${dock.data.id}/claim`, '{"count": 1.0}')).data.items[0].priority, 5)
  const calendar = await post(
    'calendar/calendars',
    '{"key": "rooms", "name": "Rooms", "settings": {"default_reminders": [10.0], "booking": {"enabled": true, "durations": [30.0]}}}',
  )
  t.deepEqual(calendar.data?.settings.booking.durations, [30], calendar.text)
  t.is((await post('types', '{"key": "things", "label": "Things"}')).status, 201)
  const field = await post(
    'fields',
    '{"entity_type": "things", "key": "code", "label": "Code", "type": "string", "rules": {"max_len": 5.0}}',
  )
  t.is(field.data?.rules.max_len, 5, field.text)
  const autogen = await owner.put(`${path}/fields/${field.data.id}/autogen`, '{"pattern": "{seq}", "next": 5.0}', json)
  t.is(autogen.status, 200, autogen.text)
  const connection = await post(
    'messages/connections',
    '{"name": "Mail", "host": "mail.example.com", "port": 25.0, "secure": false, "from": "a@example.com"}',
  )
  t.is(connection.data?.port, 25, connection.text)
})

test('numbers: a number that a double cannot hold is refused where a number is asked for, and stays exact elsewhere', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const long = await owner.post(`${path}/modules`, '{"slug": "a", "name": "A", "position": 12345678901234567890}', json)
  t.like(long.body.error, { message: 'position must be a number of at most 15 digits' })
  t.is((await owner.post(`${path}/types`, '{"key": "things", "label": "Things"}', json)).status, 201)
  const field = await owner.post(`${path}/fields`, { entity_type: 'things', key: 'code', label: 'Code', type: 'string' })
  const autogen = (next: string) => owner.put(`${path}/fields/${field.data.id}/autogen`, `{"pattern": "{seq}", "next": ${next}}`, json)
  t.is((await autogen('9007199254740993')).body.error.message, 'next must be at most 1000000000000000')
  t.is((await autogen('1e400')).body.error.message, 'next must be a number of at most 15 digits')
  const { data: dock } = await owner.post(`${path}/queues`, queue('a'), json)
  await owner.post(`${path}/queues/${dock.id}/items`, '{"items": [{"key": "p1", "payload": {"n": [12345678901234567890, 1.10]}}]}', json)
  t.true((await owner.get(`${path}/queues/${dock.id}/items`)).text.includes('[12345678901234567890,1.10]'))
})

for (const number of ['1', '1.0', '1e400', '12345678901234567890'])
  test(`numbers: ${number} is no object`, async (t) => {
    const w = await start()
    const { owner, path } = await createOrg(w)
    const { data: dock } = await owner.post(`${path}/queues`, queue('b'), json)
    await owner.post(`${path}/types`, { key: 'things', label: 'Things' })
    const { data: items } = await owner.post(`${path}/queues/${dock.id}/items`, { items: [{ key: 'p1' }] })
    const stage = '{"key": "in", "label": "In", "kind": "start", "position": 1}'
    for (const [method, address, body, refused] of [
      ['POST', 'records/things', number, 'body'],
      ['POST', 'records/things', `{"values": ${number}}`, 'values'],
      ['PATCH', 'types/things', number, 'body'],
      ['PATCH', '', number, 'body'],
      ['PATCH', '', `{"apps": ${number}}`, 'apps'],
      ['POST', 'queues', `{"name": "C", "stages": [${number}]}`, 'stages[0]'],
      ['POST', 'queues', `{"name": "C", "settings": ${number}, "stages": [${stage}]}`, 'settings'],
      ['POST', `queues/${dock.id}/items`, `{"items": [{"key": "p2", "payload": ${number}}]}`, 'items[0].payload'],
      ['PATCH', `queues/${dock.id}/items/${items.items[0].id}`, `{"payload": ${number}}`, 'payload'],
      ['POST', 'flows', `{"name": "F", "context": ${number}}`, 'context'],
      ['POST', 'flows', `{"name": "F", "nodes": [{"id": "t", "type": "trigger.manual", "config": ${number}}]}`, 'nodes[0].config'],
      ['POST', 'calendar/calendars', `{"key": "c", "name": "C", "settings": ${number}}`, 'settings'],
      ['POST', 'calendar/calendars', `{"key": "c", "name": "C", "settings": {"booking": ${number}}}`, 'settings.booking'],
      ['POST', 'iam/simulate', `{"user_id": "${w.org.ownerId}", "action": "records:read", "attrs": ${number}}`, 'attrs'],
      ['POST', 'iam/groups', `{"name": "R", "policy": [${number}]}`, 'policy[0]'],
      [
        'POST',
        'iam/groups',
        `{"name": "R", "policy": [{"effect": "allow", "actions": ["*"], "condition": ${number}}]}`,
        'policy[0].condition',
      ],
      ['POST', 'fields', `{"entity_type": "things", "key": "note", "label": "N", "type": "string", "rules": ${number}}`, 'rules'],
      ['POST', 'records/things/batch', `{"operations": [${number}]}`, 'operations[0]'],
    ] as const) {
      const answer = await owner.send(method, `${path}/${address}`.replace(/\/$/, ''), body, json)
      t.is(answer.status, 400, `${method} ${address} ${body}: ${answer.text}`)
      t.regex(
        answer.body.error.message,
        new RegExp(`^${refused.replace(/[[\]]/g, '\\$&')} must be (an object|one of object|a JSON object)`),
        body,
      )
    }
  })
