import test from 'ava'
import { createOrg, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('strict bodies: a route without a body refuses keys except warnings', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const address = `${path}/notifications/read-all`
  t.is((await owner.post(address)).status, 204)
  t.is((await owner.post(address, {})).status, 204)
  t.is((await owner.post(address, { warnings: ['old'] })).status, 204)
  const { status, body } = await owner.post(address, { before: '2026-01-01' })
  t.is(status, 400)
  t.is(body.error.message, 'before is no key of this body, which has none')
})

test('strict bodies: a list that is too long is refused before its items are checked', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const { status, body } = await owner.post(`${path}/flows`, { name: 'Long', nodes: Array(201).fill({ unknown: 1 }) })
  t.is(status, 400)
  t.is(body.error.message, 'nodes must have at most 200 items')
})

test('strict bodies: the size of a flow is tested before its blocks are read', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const config = { clauses: Array(100).fill({ left: 'a', op: 'eq', right: 'b' }) }
  const nodes = Array.from({ length: 100 }, (_, index) => ({ id: `n${index}`, type: 'nothing', config }))
  const small = await owner.post(`${path}/flows`, { name: 'Small', nodes: nodes.slice(0, 10) })
  t.regex(small.body.error.message, /there is no block of the type nothing/)
  const large = await owner.post(`${path}/flows`, { name: 'Large', nodes })
  t.is(large.body.error.message, 'nodes, edges and context must have at most 256 KB together')
})

test('strict bodies: an operation of a batch is answered with what its op requires, or with the known ops', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const messageFor = async (operation: object) =>
    (await owner.post(`${path}/records/accounts/batch`, { operations: [operation] })).body.error.message
  t.is(await messageFor({ op: 'crate', values: {} }), 'operations[0].op must be one of create, update, delete, upsert')
  t.is(await messageFor({ op: 'constructor' }), 'operations[0].op must be one of create, update, delete, upsert')
  t.is(await messageFor({ values: {} }), 'operations[0].op is required')
  t.is(await messageFor({ op: 'update', values: {} }), 'operations[0].id is required')
  t.is(await messageFor({ op: 'upsert', by: 1, values: {} }), 'operations[0].by must be a string')
})

test('strict bodies: an event that was read before its invitations were sent can be sent back', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const { data: calendar } = await owner.post(`${path}/calendar/calendars`, { name: 'Team', kind: 'org', key: 'talks' })
  const event = { calendar_id: calendar.id, title: 'Talk', start: '2030-01-01T10:00:00Z', end: '2030-01-01T11:00:00Z' }
  const { data: made } = await owner.post(`${path}/calendar/events`, { ...event, attendees: [{ email: 'guest@example.com' }] })
  const address = `${path}/calendar/events/${made.id}`
  const { data: read } = await owner.get(address)
  const { mailed } = read.attendees[0]
  const put = await owner.patch(address, { ...read, title: 'Walk', attendees: [{ ...read.attendees[0], mailed: !mailed }] })
  t.is(put.status, 200, put.text)
  t.is(put.data.title, 'Walk')
})

test('strict bodies: an unknown rule of a field is refused although it is null; a known one is ignored', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  await owner.post(`${path}/types`, { key: 'parts', label: 'Parts' })
  const make = (key: string, rules: object) =>
    owner.post(`${path}/fields`, { entity_type: 'parts', key, label: 'Size', type: 'string', rules })
  const refused = await make('size', { max_length: null })
  t.is(refused.status, 400)
  t.is(refused.body.error.message, 'rules.max_length is no rule of a string field; did you mean max_len?')
  t.is((await make('constructed', { constructor: null })).status, 400)
  const known = await make('size', { max_len: null, options: null, default: null })
  t.deepEqual(known.data?.rules, {}, known.text)
})

test('strict bodies: errors of formulas do not name fields or options that the author may not see', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const { owner, path } = org
  await owner.post(`${path}/types`, { key: 'patients', label: 'Patients' })
  const field = async (key: string, type: string, rules = {}) =>
    (await owner.post(`${path}/fields`, { entity_type: 'patients', key, label: key, type, rules })).data.id as string
  await field('diagnosis', 'string')
  await field('risk', 'select', { options: ['severe', 'light'] })
  const computed = await field('summary', 'string')
  const allow = (actions: string[], more = {}) => ({ effect: 'allow', actions, resources: ['patients'], ...more })
  const reading = allow(['records:read'], { fields: { deny: ['diagnosis', 'risk'] } })
  const { client: blind } = await createService(w, org, [allow(['fields:create']), reading])
  const { client: listing } = await createService(w, org, [allow(['fields:create', 'fields:read']), reading], 'Lister')
  const messageFor = async (client: typeof blind, formula: string) =>
    (await client.put(`${path}/fields/${computed}/formula`, { formula })).body.error.message
  t.is(await messageFor(blind, 'diagnosi'), 'formula: unknown name "diagnosi" at position 1')
  t.is(await messageFor(blind, 'IF(risk=sever,1,2)'), 'formula: "sever" is not an option of risk at position 9')
  t.is(await messageFor(listing, 'diagnosi'), 'formula: unknown name "diagnosi" at position 1; did you mean "diagnosis"?')
})

test('strict bodies: the shared space is found by its key before the spaces were listed', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const address = `${org.path}/drive/buckets/org/objects`
  const nobody = await createService(w, org, [])
  t.is((await nobody.client.get(address)).status, 404)
  const { status, text } = await org.owner.get(address)
  t.is(status, 200, text)
})

test('strict bodies: an unknown block type is answered with the nearest one, or with where to list all', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const messageFor = async (type: string) =>
    (await owner.post(`${path}/flows`, { name: 'F', nodes: [{ id: 'a', type }] })).body.error.message
  t.is(
    await messageFor('logic.wiat'),
    'a: there is no block of the type logic.wiat; did you mean logic.wait? GET …/flows/blocks lists them',
  )
  t.is(await messageFor('__proto__'), 'a: there is no block of the type __proto__; GET …/flows/blocks lists them')
})

test('strict bodies: settings of a queue are named without an article', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const { body } = await owner.post(`${path}/queues`, { name: 'Q', settings: { lease: 60 } })
  t.is(body.error.message, 'settings.lease is no key of queue settings; did you mean lease_seconds?')
})

test('strict bodies: a very long name is shortened in the message', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const values = { ['k'.repeat(900_000)]: 1 }
  const { status, body } = await owner.post(`${path}/records/accounts`, { values })
  t.is(status, 400)
  t.is(body.error.message.length, 4_000)
  t.true(body.error.message.startsWith('values.kkk'))
  const { data } = await owner.post(`${path}/records/accounts/batch`, { operations: [{ op: 'create', values }] })
  t.is(data.results[0].error.message.length, 4_000)
})

test('strict bodies: a connection can be sent back as its creation returned it, with its secret', async (t) => {
  const w = await start()
  const { owner, path } = await createOrg(w)
  const input = { name: 'Post', host: 'mail.example.com', from: 'shop@example.com' }
  const { data: made } = await owner.post(`${path}/messages/connections`, input)
  const address = `${path}/messages/connections/${made.id}`
  const put = await owner.patch(address, { ...made, name: 'Letters' })
  t.is(put.status, 200, put.text)
  t.like(put.data, { name: 'Letters', webhook_secret: undefined })
  const { status, body } = await owner.patch(address, { ...made, webhook_secret: 'another' })
  t.is(status, 400)
  t.is(body.error.message, 'webhook_secret cannot be changed here')
})
