import test from 'ava'
import { byHand, chain, createFlow, ended, recordsOf, runOf, start } from '#test/features/flows/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

test('record values: an empty text clears a field of every type, also where a reference gives null or leads nowhere', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  t.is((await org.owner.post(`${org.path}/types`, { key: 'things', label: 'Things' })).status, 201)
  const full = {
    string: 'text',
    text: 'long',
    number: 1.5,
    bool: true,
    date: '2027-01-31',
    datetime: '2027-01-31T09:00:00.000000Z',
    currency: { amount: 2.5, code: 'EUR' },
    select: 'x',
    multiselect: ['x'],
    email: 'a@example.com',
    url: 'https://example.com',
    ref: org.id,
    refs: [org.id],
  }
  for (const type of Object.keys(full)) {
    const rules = type.endsWith('select') ? { options: ['x'] } : type.startsWith('ref') ? { ref_type: 'things' } : {}
    const made = await org.owner.post(`${org.path}/fields`, { entity_type: 'things', key: `a_${type}`, label: type, type, rules })
    t.is(made.status, 201, made.text)
  }
  const valuesOf = (value: (type: string) => unknown) => Object.fromEntries(Object.keys(full).map((type) => [`a_${type}`, value(type)]))
  for (const text of ['', '{{trigger.input.nothing}}', '{{trigger.input.gone}}']) {
    const values = valuesOf(() => text)
    const { id } = (
      await org.owner.post(`${org.path}/records/things`, {
        values: valuesOf((type) => full[type as keyof typeof full]),
      })
    ).data
    const flow = await createFlow(
      t,
      org,
      chain(
        byHand,
        ['a', 'action.create_record', { object_type: 'things', values }],
        ['b', 'action.update_record', { object_type: 'things', record_id: '{{trigger.input.id}}', values }],
      ),
    )
    const run = await ended(org, flow.id, await start(t, org, flow.id, { id, nothing: null }))
    t.is(run.status, 'ok', run.error)
  }
  t.deepEqual(await recordsOf(org, 'things'), Array(6).fill(valuesOf(() => null)))
})

test('record values: a run shows the first 64 KB of a record, without the fields that the caller may not read', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const values = { name: 'Depot', address: '{{trigger.input}}' }
  const flow = await createFlow(t, org, chain(byHand, ['a', 'action.create_record', { object_type: 'locations', values }]))
  const long = `${'x'.repeat(70_000)}"`
  const runId = await start(t, org, flow.id, long)
  const [step] = (await ended(org, flow.id, runId)).steps
  t.true(step.output_cut)
  t.is(step.output.values.name, 'Depot')
  t.regex(step.output.values.address, /^x{65000,65536}$/)
  t.is((await recordsOf(org, 'locations'))[0]?.address, long)
  const rules = [
    { effect: 'allow', actions: ['flows:read'] },
    { effect: 'allow', actions: ['records:read'], resources: ['locations'], fields: { allow: ['name'] } },
  ]
  const reader = await createMember(w, org, rules)
  const [seen] = (await runOf(org, flow.id, runId, reader.client)).steps
  t.deepEqual(seen.output.values, { name: 'Depot' })
  t.false('output_cut' in seen)
})
