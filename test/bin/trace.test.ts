import test from 'ava'
import { callKontor } from '#test/bin/call.ts'
import { endWait } from '#test/features/flows/rows.ts'
import { byHand, chain, createFlow } from '#test/features/flows/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test)

const trace = async (w: Pick<World, 'config'>, requestId: string): Promise<string[]> =>
  (await callKontor(w, 'trace', requestId)).out.trimEnd().split('\n')

test('trace: the trace of a request shows its audit entry, its dispatch and the notifications', async (t) => {
  const { org, config, drain } = await start()
  await org.owner.post(`${org.path}/types`, { key: 'thing', label: 'Thing' })
  await org.owner.post(`${org.path}/notification-rules`, { name: 'a', object_type: 'thing', event: 'created', title: 'Something new' })
  const id = `trace.${org.id}`
  await org.owner.post(`${org.path}/records/thing`, {}, { 'x-request-id': id })
  await drain()
  const lines = await trace({ config }, id)
  const text = lines.join('\n')
  for (const part of ['record.created', 'notifications.deliver', 'notification  Something new']) t.true(text.includes(part), text)
})

test('trace: the trace of a request with a job shows its operation and its idempotency record', async (t) => {
  const { org, config } = await start()
  await org.owner.post(`${org.path}/types`, { key: 'thing', label: 'Thing' })
  await org.owner.post(`${org.path}/fields`, { entity_type: 'thing', key: 'word', label: 'Word', type: 'string' })
  const id = `import.${org.id}`
  const headers = { 'x-request-id': id, 'idempotency-key': 'once', 'content-type': 'text/csv' }
  t.is((await org.owner.post(`${org.path}/records/thing/import`, 'word\n1\n', headers)).status, 200)
  const text = (await trace({ config }, id)).join('\n')
  for (const part of ['operation', 'records.import', 'idempotency record', 'key once']) t.true(text.includes(part), text)
})

test('trace: the trace of a request that runs functions shows each run and what it wrote', async (t) => {
  const { org, config } = await start()
  const make = async (name: string, body: string) =>
    (await org.owner.post(`${org.path}/functions`, { name, source: `async function handler() { ${body} }` })).data.id
  const inner = await make('Writer', `return sdk.records.create('locations', { name: 'traced' })`)
  const outer = await make('Caller', `await sdk.functions.invoke('${inner}'); throw new Error('and then it broke')`)
  const id = `run.${org.id}`
  await org.owner.post(`${org.path}/functions/${outer}/invoke`, {}, { 'x-request-id': id })
  const lines = await trace({ config }, id)
  const expected = [
    / functions\.invoke +completed/,
    / function run +Caller +threw .*and then it broke/,
    / function run +Writer +returned /,
    / record\.created /,
  ]
  t.deepEqual(
    expected.map((step) => lines.some((line) => step.test(line))),
    expected.map(() => true),
    lines.join('\n'),
  )
})

test('trace: the trace of a request that starts a flow shows the run, its steps and their effects', async (t) => {
  const { org, config, drain } = await start()
  const make = async (name: string, objectType: string, block: object) => {
    const nodes = [
      { id: 't', type: 'trigger.record_event', config: { object_type: objectType, event: 'created' } },
      { id: 'n1', ...block },
    ]
    const made = await org.owner.post(`${org.path}/flows`, { name, enabled: true, nodes, edges: [{ source: 't', target: 'n1' }] })
    t.true(made.data.enabled, made.text)
  }
  await make('First', 'locations', { type: 'action.create_record', config: { object_type: 'invoices', values: { notes: 'from a flow' } } })
  await make('Second', 'invoices', { type: 'action.notify', config: { title: 'New invoice', user_id: org.id } })
  const id = `flow.${org.id}`
  await org.owner.post(`${org.path}/records/locations`, { values: { name: 'traced' } }, { 'x-request-id': id })
  await drain()
  const lines = await trace({ config }, id)
  const expected = [
    / flow run +First +ok .*record_event created of locations/,
    / flow step +action\.create_record +ok .* n1 \d+ ms/,
    / flow run +Second +failed .*of invoices VALIDATION_ERROR/,
    / flow step +action\.notify +failed .* n1 \d+ ms VALIDATION_ERROR/,
  ]
  t.deepEqual(
    expected.map((step) => lines.some((line) => step.test(line))),
    expected.map(() => true),
    lines.join('\n'),
  )
})

test('trace: the trace of a request whose flow waits shows the due task, whose id traces what it causes', async (t) => {
  const { org, config, db, drain } = await start()
  const late = ['n', 'action.create_record', { object_type: 'locations', values: { name: 'late' } }] as const
  const flow = await createFlow(t, org, { name: 'Late', enabled: true, ...chain(byHand, ['w', 'logic.wait', { minutes: '10' }], late) })
  const id = `wait.${org.id}`
  const { run_id: runId } = (await org.owner.post(`${org.path}/flows/${flow.id}/run`, {}, { 'x-request-id': id })).data
  await drain()
  const lines = await trace({ config }, id)
  const task = lines.map((line) => / due task +flows\.wait +waits +(\S+) +for /.exec(line)?.[1]).find((one) => one !== undefined)
  t.truthy(task, lines.join('\n'))
  await endWait(db, runId)
  await drain()
  const caused = await trace({ config }, task ?? '')
  t.true(
    caused.some((line) => / job +flows\.\w+ +completed /.test(line)),
    caused.join('\n'),
  )
})

test('trace: the trace of an unknown request has no steps', async (t) => {
  const { config } = await start()
  t.regex((await trace({ config }, 'nobody')).at(-1) ?? '', /^0 steps: /)
})
