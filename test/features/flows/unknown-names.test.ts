import test from 'ava'
import { byHand, chain, createFlow } from '#test/features/flows/support.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const open = once(async () => (await shared()).org)

const none = '01a1fbc8-8645-7571-bf7a-d5998224cc5c'
const unknowns: readonly (readonly [type: string, config: object, message: RegExp])[] = [
  ['action.create_record', { object_type: 'locations', values: { name: 'x', nmae: 'y' } }, /^values.nmae names no field of locations$/],
  [
    'action.update_record',
    { object_type: 'locations', record_id: '{{trigger.input}}', values: { x: '' } },
    /^values.x names no field of locations$/,
  ],
  ['action.update_record', { object_type: 'locations', record_id: ' ', values: {} }, /^record_id is required$/],
  ['action.delete_record', { object_type: 'locations', record_id: 'nope' }, /^record_id must be an id, got nope$/],
  ['action.delete_record', { object_type: 'nowhere', record_id: none }, /^object_type must be the key of a record type$/],
  ['action.find_records', { object_type: 'nowhere', filter: '[]' }, /^object_type must be the key of a record type$/],
  ['action.find_records', { object_type: 'locations', sort: 'nmae' }, /^sort must be a field of locations that you may read, got nmae$/],
  [
    'action.send_message',
    { connection_id: '{{trigger.input}}', record_type: 'invoices', record_id: none, to_field: 'customer_mail', body_text: 'x' },
    /^to_field must be the key of a field of invoices, got "customer_mail"$/,
  ],
  ['action.send_message', { connection_id: none, to: 'a@example.com', body_text: 'x' }, /^connection_id must be the id of a connection/],
  ['action.create_payment_link', { connection_id: none, amount: '1' }, /^connection_id must be the id of a connection/],
  ['action.enqueue_item', { queue_key: 'nowhere', key: 'a' }, /^queue_key must be the key of a queue$/],
  ['action.create_event', { calendar_key: 'nowhere', title: 'x', start: '2027-01-01' }, /^calendar_key must be the key of a calendar$/],
  ['action.run_function', { function_id: none }, /^function_id must be a function/],
  ['action.notify', { title: 'x', user_id: ' ' }, /^user_id must not be blank$/],
]
for (const [index, [type, config, message]] of unknowns.entries()) {
  test(`unknown names: ${type} with a missing or blank id is a problem at once: ${index}`, async (t) => {
    const org = await open()
    const flow = await createFlow(t, org, { enabled: true, ...chain(byHand, ['a', type, config]) })
    t.is(flow.problems.length, 1, JSON.stringify(flow.problems))
    t.is(flow.problems[0].node_id, 'a')
    t.regex(flow.problems[0].message, message)
    t.false(flow.enabled)
    const referring = Object.fromEntries(
      Object.entries(config).map(([key, value]) => [key, typeof value === 'string' ? '{{trigger.input}}' : value]),
    )
    const judgedLater = await createFlow(
      t,
      org,
      chain(byHand, ['a', type, { ...referring, ...('values' in config ? { values: {} } : {}) }]),
    )
    t.deepEqual(judgedLater.problems, [])
  })
}

test('unknown names: an unknown template is a problem, and so is a trigger of an unknown calendar', async (t) => {
  const org = await open()
  const message = { connection_id: '{{trigger.input}}', to: 'a@example.com', template_id: none }
  const flow = await createFlow(t, org, chain(byHand, ['a', 'action.send_message', message]))
  t.regex(flow.problems[0].message, /^template_id must be the id of a template/)
  const heard = await createFlow(
    t,
    org,
    chain(['t', 'trigger.calendar_event', { event: 'created', calendar_key: 'nowhere' }], ['n', 'action.notify', { title: 'x' }]),
  )
  t.regex(heard.problems[0].message, /^calendar_key must be the key of a calendar/)
})
