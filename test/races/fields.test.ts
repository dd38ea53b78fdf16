import test from 'ava'
import { atOnce, made, makeType, openArena, rounds, tally } from '#test/races/arena.ts'
import { countRows } from '#test/support/rows.ts'

const arena = openArena(test)

test('fields: a field that is deleted while it is written disappears from every record, and each write succeeds or names it', async (t) => {
  const ring = await arena.ring()
  const { records } = await makeType(ring, 'parts', { name: {} })
  const { id } = await made(ring.owner.post(records, { values: { name: 'kept' } }))
  const field = { entity_type: 'parts', key: 'more', label: 'More', type: 'string' }
  for (let round = 0; round < rounds; round++) {
    const more = await made(ring.owner.post(`${ring.path}/fields`, field))
    const values = { more: 'x' }
    const [answers, deleted] = await Promise.all([
      atOnce(12, ring.owners, (client, index) =>
        index % 3 === 0
          ? client.put(`${records}/${id}/values`, { values })
          : client.post(records, { values: { ...values, name: `${round}` } }),
      ),
      ring.owners[round % 2 === 0 ? 0 : 1].delete(`${ring.path}/fields/${more.id}`),
    ])
    t.is(deleted.status, 204)
    for (const { status, body } of answers) {
      t.true([201, 204, 400].includes(status))
      if (status === 400) t.regex(body.error.message, /values\.more/)
    }
    for (const { values } of (await ring.owners[1].get(`${records}?limit=200`)).data.records) t.deepEqual(Object.keys(values), ['name'])
  }
})

test('fields: a formula that reads a field and the deletion of that field exclude each other', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const { fields } = await makeType(ring, `type_${round}`, { source: { type: 'number' }, target: { type: 'number' } })
    const answers = await Promise.all([
      ring.owner.put(`${ring.path}/fields/${fields.target}/formula`, { formula: 'source + 1' }),
      ring.owners[1].delete(`${ring.path}/fields/${fields.source}`),
    ])
    t.is(answers.filter(({ status }) => status < 300).length, 1)
    t.is(answers.filter(({ status }) => status === 400).length, 1)
  }
})

test('fields: one of two formulas that would read each other is set', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const { fields } = await makeType(ring, `type_${round}`, { one: { type: 'number' }, other: { type: 'number' } })
    const answers = await Promise.all([
      ring.owner.put(`${ring.path}/fields/${fields.one}/formula`, { formula: 'other + 1' }),
      ring.owners[1].put(`${ring.path}/fields/${fields.other}/formula`, { formula: 'one + 1' }),
    ])
    t.deepEqual(tally(answers), { 200: 1, 400: 1 })
  }
})

test('fields: a field that becomes required while values are cleared has a value in every record, or stays optional', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const { records, fields } = await makeType(ring, `type_${round}`, { name: {} })
    const ids = await Promise.all([0, 1, 2, 3].map(async () => (await made(ring.owner.post(records, { values: { name: 'x' } }))).id))
    const [cleared, changed] = await Promise.all([
      atOnce(4, ring.owners, (client, index) => client.put(`${records}/${ids[index]}/values`, { values: { name: null } })),
      ring.owners[1].patch(`${ring.path}/fields/${fields.name}`, { required: true }),
    ])
    const listed = (await ring.owner.get(records)).data.records as readonly { values: { name?: string } }[]
    const empty = listed.filter(({ values }) => !values.name).length
    t.is(tally(cleared)[204] ?? 0, empty)
    t.is(changed.status, empty === 0 ? 200 : 400)
  }
})

test('fields: a type that is deleted while rules are created for it leaves no rule', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    await makeType(ring, 'parts', {})
    const rule = { name: 'R', object_type: 'parts', event: 'created', title: 'T' }
    const [rules, deleted] = await Promise.all([
      atOnce(10, ring.owners, (client) => client.post(`${ring.path}/notification-rules`, rule)),
      ring.owners[1].delete(`${ring.path}/types/parts`),
    ])
    t.is(deleted.status, 204)
    for (const { status } of rules) t.true(status === 201 || status === 400)
    t.deepEqual((await ring.owner.get(`${ring.path}/notification-rules`)).data, [])
    t.is(await countRows(arena.world().db, 'event_listeners', ring.id), 0)
  }
})

test('fields: changes of one definition at once are made one after the other', async (t) => {
  const ring = await arena.ring()
  for (let round = 0; round < rounds; round++) {
    const { records, fields } = await makeType(ring, `type_${round}`, { name: {} })
    await made(ring.owner.post(records, { values: { name: 'abc' } }))
    const changes = [
      { label: 'Other' },
      { description: 'Described' },
      { rules: { min_len: 2 } },
      { rules: { max_len: 3 } },
      { rules: { max_len: 2 } },
      { required: true },
    ]
    const answers = await atOnce(6, ring.owners, (client, index) => client.patch(`${ring.path}/fields/${fields.name}`, changes[index]))
    const statuses = answers.map(({ status }) => status)
    t.deepEqual(statuses, [200, 200, 200, 200, 400, 200], answers.map(({ text }) => text).join('\n'))
    const [kept] = (await ring.owner.get(`${ring.path}/fields?entity_type=type_${round}`)).data
    t.like(kept, { label: 'Other', description: 'Described', required: true })
    t.is((await ring.owners[1].post(records, { values: {} })).status, 400)
  }
})
