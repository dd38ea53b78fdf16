import { randomUUID } from 'node:crypto'
import test from 'ava'
import { byHand, chain, createFlow, ended, endedRuns, play, start } from '#test/features/flows/support.ts'
import { connect, made, read, sender, shareOffice } from '#test/features/messages/support.ts'
import { createMember } from '#test/support/factories.ts'

const fresh = shareOffice(test, { PUBLIC_URL: 'https://kontor.example' })
const to = () => `${randomUUID()}@example.com`

test('template values: a template reads nothing of the flow that sends it, and the step fails and names the variable', async (t) => {
  const w = await fresh()
  const { org, server } = w
  const { id: connection_id } = await connect(org, server.port)
  const templates = `${org.path}/messages/templates`
  const template = await made(org.owner.post(templates, { name: 'A', subject: 'Hello', body_text: 'Hello {{name}}{{unknown}}' }))
  const message = { connection_id, template_id: template.id, to: to(), vars: { name: '{{trigger.record_id}}' } }
  const whenCreated = ['t', 'trigger.record_event', { object_type: 'locations', event: 'created' }] as const
  const flow = await createFlow(t, org, { ...chain(whenCreated, ['m', 'action.send_message', message]), enabled: true })
  const writer = await createMember(w, org, [{ effect: 'allow', actions: ['messages:manage'] }])
  let runs = 0
  for (const part of ['subject', 'body_text', 'body_html'] as const) {
    for (const name of ['trigger.record.name', 'context.rate', 'steps.m.message_id', 'item', 'index']) {
      const changed = await writer.client.patch(`${templates}/${template.id}`, { [part]: `x {{ ${name} }}` })
      t.is(changed.status, 200)
      t.deepEqual(changed.data.warnings, [
        `{{${name}}} is not filled in by a flow: a template sees vars alone, so a sender must pass vars with the name ${name}`,
      ])
      const lacked = `vars must have ${name}, which the template names: a template sees vars alone`
      t.deepEqual((await org.owner.get(`${org.path}/flows/${flow.id}`)).data.problems, [{ node_id: 'm', message: lacked }])
      await made(org.owner.post(`${org.path}/records/locations`, { values: { name: 'Hidden' } }))
      const run = (await endedRuns(w, org, flow.id, ++runs)).at(-1)
      t.like(run, { status: 'failed', error: `VALIDATION_ERROR at m: message.${lacked}, and no values of the flow that sends it` })
    }
    await made(writer.client.patch(`${templates}/${template.id}`, { [part]: 'Hello' }))
  }
  t.deepEqual(await made(org.owner.get(`${org.path}/messages`)), [])
  t.deepEqual((await org.owner.get(`${org.path}/flows`)).data[0].problems, [])
})

test('template values: vars fill such a name, and the texts of the flow itself see the flow', async (t) => {
  const { org, server } = await fresh()
  const { id: connection_id } = await connect(org, server.port)
  const { id: template_id } = await made(
    org.owner.post(`${org.path}/messages/templates`, {
      name: 'A',
      subject: '{{trigger.input.name}}',
      body_text: 'For {{trigger.input.name}}',
    }),
  )
  const message = {
    connection_id,
    template_id,
    to: to(),
    body_text: 'Dear {{trigger.input.name}}',
    vars: { 'trigger.input.name': '{{trigger.input.name}}!' },
  }
  const flow = await createFlow(t, org, chain(byHand, ['m', 'action.send_message', message]))
  t.deepEqual(flow.problems, [])
  const run = await ended(org, flow.id, await start(t, org, flow.id, { name: 'Ann' }))
  t.is(run.status, 'ok', run.error)
  t.like(await read(org, run.steps[0].output.message_id), { subject: 'Ann!', body_text: 'Dear Ann!' })

  const own = { connection_id, template_id, to: to(), subject: 'To {{trigger.input.name}}', body_text: 'Dear {{trigger.input.name}}' }
  const { status, steps, error } = await play(t, org, chain(byHand, ['m', 'action.send_message', own]), { name: 'Ben' })
  t.is(status, 'ok', error)
  t.like(await read(org, steps[0].output.message_id), { subject: 'To Ben', body_text: 'Dear Ben' })
})

test('template values: a function that sends a template gets the same refusal', async (t) => {
  const { org, server } = await fresh()
  const { id: connection_id } = await connect(org, server.port)
  const { id: template_id } = await made(
    org.owner.post(`${org.path}/messages/templates`, { name: 'A', subject: 'Of {{item}}', body_text: 'B' }),
  )
  const send = await sender(t, org)
  t.regex((await send({ connection_id, template_id, to: to() })).error ?? '', /^VALIDATION_ERROR: message\.vars must have item, /)
  const { message_id } = await send({ connection_id, template_id, to: to(), vars: { item: 3 } })
  t.is((await read(org, message_id)).subject, 'Of 3')
})
