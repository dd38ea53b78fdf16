import test from 'ava'
import { builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import { upgradeWorkspace } from '#shared/core/types/builtin/upgrade.ts'
import { lastSeq, readAll, readPage } from '#test/core/events/reading.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test, {}, { pools: ['data'] })

test('type events: every change of a type and of its fields is told once, and none of what stays as it is', async (t) => {
  const w = await shared()
  const { owner, ownerId, path } = w.org
  const after = await lastSeq(w)
  const told: [string, string[]][] = []
  const expectEvent = async (change: string, fields: string[], answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer
    t.true(status < 300, text)
    told.push([change, fields])
  }
  const expectNone = async (status: number, answer: Promise<{ status: number; text: string }>) => {
    const { status: found, text } = await answer
    t.is(found, status, text)
  }
  await expectEvent('created', [], owner.post(`${path}/types`, { key: 'visits', label: 'Visits' }))
  await expectNone(409, owner.post(`${path}/types`, { key: 'visits', label: 'Visits' }))
  await expectEvent('updated', [], owner.patch(`${path}/types/visits`, { label: 'Calls', description: 'Of guests' }))
  await expectNone(200, owner.patch(`${path}/types/visits`, { label: 'Calls' }))
  await expectNone(404, owner.patch(`${path}/types/nothing`, { label: 'Calls' }))
  const ids: Record<string, string> = {}
  for (const [key, type] of [
    ['place', 'string'],
    ['rank', 'number'],
    ['double', 'number'],
    ['at', 'ref'],
  ] as const) {
    const rules = type === 'ref' ? { ref_type: 'locations' } : undefined
    const creation = owner.post(`${path}/fields`, { entity_type: 'visits', key, label: key, type, rules })
    await expectEvent('updated', [key], creation)
    ids[key] = (await creation).data.id
  }
  await expectNone(409, owner.post(`${path}/fields`, { entity_type: 'visits', key: 'rank', label: 'again', type: 'number' }))
  const field = (key: string, more = '') => `${path}/fields/${ids[key]}${more}`
  await expectEvent('updated', ['place'], owner.patch(field('place'), { label: 'Place', rules: { max_len: 20 } }))
  await expectNone(200, owner.patch(field('place'), { label: 'Place' }))
  await expectEvent('updated', ['place'], owner.put(field('place', '/description'), { description: 'Where' }))
  await expectNone(200, owner.put(field('place', '/description'), { description: 'Where' }))
  await expectEvent('updated', ['at'], owner.put(field('at', '/ref-type'), { ref_type: 'invoices' }))
  await expectNone(200, owner.put(field('at', '/ref-type'), { ref_type: 'invoices' }))
  await expectEvent('updated', ['place'], owner.put(field('place', '/autogen'), { pattern: 'P-{seq:4}' }))
  await expectNone(200, owner.put(field('place', '/autogen'), { pattern: 'P-{seq:4}' }))
  await expectEvent('updated', ['place'], owner.delete(field('place', '/autogen')))
  await expectNone(204, owner.delete(field('place', '/autogen')))
  await expectEvent('updated', ['double'], owner.put(field('double', '/formula'), { formula: 'rank * 2' }))
  await expectNone(200, owner.put(field('double', '/formula'), { formula: 'rank * 2' }))
  await expectEvent('updated', ['double'], owner.delete(field('double', '/formula')))
  await expectNone(204, owner.delete(field('double', '/formula')))
  await expectEvent('updated', ['rank'], owner.delete(field('rank')))
  await expectEvent('deleted', [], owner.delete(`${path}/types/visits`))
  await w.drain()
  const events = (await readAll(w, owner, after)).filter(({ type }) => type === 'types.changed')
  t.deepEqual(
    events.map(({ data: { change, fields } }) => [change, fields]),
    told,
  )
  for (const { subject, actor, cause } of events)
    t.deepEqual(
      { subject, actor, cause: cause.kind },
      { subject: { object_type: 'visits' }, actor: { id: ownerId, type: 'user' }, cause: 'request' },
    )
})

test('type events: who may read the type is told of it, and keys of fields by who may read its fields', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  for (const key of ['open_type', 'other_type']) await owner.post(`${path}/types`, { key, label: key })
  const allow = (...actions: string[]) => ({ effect: 'allow', actions, resources: ['open_type'] })
  const readers = {
    all: await createMember(w, w.org, [allow('types:read', 'fields:read')]),
    keyless: await createMember(w, w.org, [allow('types:read', 'records:read')]),
    none: await createMember(w, w.org, [allow('records:read', 'fields:read')]),
  }
  const after = await lastSeq(w)
  await owner.post(`${path}/records/open_type`, { values: {} })
  for (const entity_type of ['open_type', 'other_type'])
    await owner.post(`${path}/fields`, { entity_type, key: 'planted', label: 'planted', type: 'string' })
  const changes = async (name: keyof typeof readers) =>
    (await readAll(w, readers[name].client, after))
      .filter(({ type }) => type === 'types.changed')
      .map(({ subject, data }) => [subject.object_type, data])
  t.deepEqual(await changes('all'), [['open_type', { change: 'updated', fields: ['planted'] }]])
  t.deepEqual(await changes('keyless'), [['open_type', { change: 'updated', fields: null }]])
  t.deepEqual(await changes('none'), [])
  const ofType = async (query: string) => (await readPage(w, owner, `?after=${after}&${query}`)).events.map(({ type }) => type)
  t.deepEqual(await ofType('object_type=open_type'), ['records.created', 'types.changed'])
  t.deepEqual(await ofType('object_type=other_type'), ['types.changed'])
  t.deepEqual(await ofType('object_type=open_type&types=types.*'), ['types.changed'])
})

test('type events: the upgrade of built-in types tells what it has added, as the platform', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const other = { ...w, org }
  t.is(await lastSeq(other), 0, 'what a new workspace begins with is no event')
  const { database: db, jobQueue } = w.api.services
  const declared = {
    version: 2,
    types: [
      ...builtinDeclaration.types.map((type) =>
        type.key === 'locations' ? { ...type, fields: [...type.fields, { key: 'level', label: 'Level', type: 'number' as const }] } : type,
      ),
      { key: 'shipments', label: 'Shipments', icon: 'truck', fields: [{ key: 'code', label: 'Code', type: 'string' as const }] },
    ],
  }
  for (let time = 0; time < 2; time += 1) await upgradeWorkspace({ db, jobQueue }, org.id, declared)
  t.deepEqual(
    (await readAll(other, org.owner)).map(({ subject, data, actor, cause }) => [subject, data, actor.type, cause.kind]),
    [
      [{ object_type: 'locations' }, { change: 'updated', fields: ['level'] }, 'system', 'system'],
      [{ object_type: 'shipments' }, { change: 'created', fields: [] }, 'system', 'system'],
    ],
  )
})
