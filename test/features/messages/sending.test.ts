import { randomUUID } from 'node:crypto'
import test from 'ava'
import { connect, made, read, sender, shareOffice } from '#test/features/messages/support.ts'
import type { MailServer } from '#test/platform/mail/smtp.ts'
import { createMember, createOrg } from '#test/support/factories.ts'

const fresh = shareOffice(test, { PUBLIC_URL: 'https://kontor.example' })
const address = () => `${randomUUID()}@example.com`
const mailTo = ({ taken }: MailServer, to: string) => taken.filter((one) => one.to.includes(to))

test('sending: a message of a template is sent by its connection, with its variables inserted', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const { id: template_id } = await made(
    w.org.owner.post(`${w.org.path}/messages/templates`, {
      name: 'Order',
      subject: 'Order {{number}} for {{name}}',
      body_text: 'Hello {{name}}, {{unknown}}your order {{ number }}.',
      body_html: '<p>Hello {{name}}, <a href="{{link}}">your order</a></p>',
    }),
  )
  const send = await sender(t, w.org)
  const to = address()
  const vars = { name: 'Ann <b> & {{number}}\r\nBcc: x@example.com', number: 7, link: 'https://shop.example/?a=1&b=2' }
  const sent = await send({ connection_id, template_id, to, vars })
  t.is(sent.skipped, false)
  await w.drain()
  const [got] = mailTo(w.server, to)
  if (!got) return t.fail()
  const { mail, raw } = got
  t.deepEqual(mail.from, { name: 'Shop', address: 'shop@example.com' })
  t.is(mail.subject, 'Order 7 for Ann <b> & {{number}} Bcc: x@example.com')
  t.is(mail.text?.replaceAll('\r\n', '\n').trim(), 'Hello Ann <b> & {{number}}\nBcc: x@example.com, your order 7.')
  t.regex(mail.html ?? '', /Ann &lt;b&gt; &amp; \{\{number\}\}/)
  t.regex(mail.html ?? '', /href="https:\/\/shop\.example\/\?a=1&amp;b=2"/)
  t.is(mail.messageId, `<${sent.message_id}@kontor.example>`)
  t.notRegex(raw.slice(0, raw.indexOf('\r\n\r\n')), /^Bcc:/m)
  const message = await read(w.org, sent.message_id)
  t.like(message, { id: sent.message_id, to, status: 'sent', attempts: 1, error: null, connection_id, template_id })
  t.regex(message.body_text, /your order 7/)
  const [listed] = await made(w.org.owner.get(`${w.org.path}/messages?status=sent`))
  t.deepEqual(Object.keys(listed), ['id', 'to', 'subject', 'status', 'attempts', 'error', 'created_at', 'sent_at'])
})

test('sending: text of the message overrides that of the template, and empty text counts as omitted', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const { id: template_id } = await made(
    w.org.owner.post(`${w.org.path}/messages/templates`, { name: 'A', subject: 'Template', body_text: 'of the template' }),
  )
  const send = await sender(t, w.org)
  const to = address()
  await send({ connection_id, template_id, to, subject: 'Own {{a}}', body_text: '', body_html: '', record_type: '', vars: { a: 1 } })
  await w.drain()
  const [got] = mailTo(w.server, to)
  t.is(got?.mail.subject, 'Own 1')
  t.regex(got?.raw ?? '', /of the template/)
})

test('sending: a subject of 500 characters outside the basic plane is sent', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const subject = '😀'.repeat(500)
  const template = await made(w.org.owner.post(`${w.org.path}/messages/templates`, { name: 'A', subject, body_text: 'B' }))
  const { message_id } = await (await sender(t, w.org))({ connection_id, to: address(), template_id: template.id })
  await w.drain()
  t.like(await read(w.org, message_id), { status: 'sent', subject })
})

test('sending: the address may come from a field of a record that the caller may read', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const to = address()
  const invoice = await made(w.org.owner.post(`${w.org.path}/records/invoices`, { values: { customer_email: to } }))
  const send = await sender(t, w.org)
  const about = { connection_id, record_type: 'invoices', record_id: invoice.id, to_field: 'customer_email', subject: 'A', body_text: 'B' }
  const { message_id } = await send(about)
  t.like(await read(w.org, message_id), { to, record_type: 'invoices', record_id: invoice.id })
  const about1 = await made(w.org.owner.get(`${w.org.path}/messages?record_id=${invoice.id}`))
  t.deepEqual(
    about1.map(({ id }: { id: string }) => id),
    [message_id],
  )

  const mayRun = { effect: 'allow', actions: ['functions:invoke', 'messages:send'] }
  const blind = await createMember(w, w.org, [mayRun])
  t.regex((await send(about, blind.client)).error ?? '', /^FORBIDDEN: Needs records:read on invoices/)
  const masked = await createMember(w, w.org, [
    mayRun,
    { effect: 'allow', actions: ['records:read'], fields: { deny: ['customer_email'] } },
  ])
  t.regex((await send(about, masked.client)).error ?? '', /^VALIDATION_ERROR: message.to_field .* customer_email has none/)
  t.regex((await send({ ...about, record_id: randomUUID() })).error ?? '', /^NOT_FOUND/)
  t.regex((await send({ ...about, to_field: 'constructor' })).error ?? '', /^VALIDATION_ERROR: message.to_field/)
  await w.drain()
})

test('sending: sending needs messages:send on the connection', async (t) => {
  const w = await fresh()
  const [one, other] = [await connect(w.org, w.server.port), await connect(w.org, w.server.port)]
  const send = await sender(t, w.org)
  const policy = [
    { effect: 'allow', actions: ['functions:invoke'] },
    { effect: 'allow', actions: ['messages:send'], resources: [one.id] },
  ]
  const { client } = await createMember(w, w.org, policy)
  const message = { to: address(), subject: 'A', body_text: 'B' }
  t.is((await send({ ...message, connection_id: one.id }, client)).skipped, false)
  t.is((await send({ ...message, connection_id: other.id }, client)).error, `FORBIDDEN: Needs messages:send on ${other.id}`)
  const foreign = await createOrg(w, 'Other')
  const { id } = await connect(foreign, w.server.port)
  t.regex((await send({ ...message, connection_id: id })).error ?? '', /^NOT_FOUND/)
  const template = await made(foreign.owner.post(`${foreign.path}/messages/templates`, { name: 'A', subject: 'B' }))
  t.regex((await send({ ...message, connection_id: one.id, template_id: template.id })).error ?? '', /^NOT_FOUND/)
  await w.drain()
})

test('sending: an invalid message is refused, and the error names the field', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const send = await sender(t, w.org)
  for (const [more, error] of [
    [{ to: '' }, /message\.to is required/],
    [{ to: 'a@example.com, b@example.com' }, /message\.to must be a valid email address/],
    [{ to: 'Ann <a@example.com>' }, /message\.to must be/],
    [{ to: 'a@example.com\r\nRCPT TO:<b@example.com>' }, /message\.to must be/],
    [{ record_id: 'x' }, /message\.record_id must be the id/],
    [{ subject: ' ' }, /message\.subject is required/],
    [{ body_text: '' }, /message\.body_text or message\.body_html is required/],
    [{ body_html: '<a {{x}}>' }, /body_html has \{\{x\}\} where no variable may stand/],
    [{ vars: { a: [] } }, /message\.vars/],
    [{ subject: 'x'.repeat(501) }, /message\.subject must have at most 500/],
    [{ subject: 'x{{name}}', vars: { name: '😀'.repeat(500) } }, /message\.subject must have at most 500 characters with its variables/],
    [{ body_text: '{{name}}'.repeat(9), vars: { name: 'x'.repeat(100_000) } }, /message\.body_text must have at most 800000/],
    [{ body_html: '{{name}}'.repeat(9), vars: { name: 'x'.repeat(100_000) } }, /message\.body_html must have at most 800000/],
    [{ to: '"a>b\\" x"@x.example' }, /message\.to must be a valid/],
    [{ to: '"a\tb"@x.example' }, /message\.to must be a valid/],
  ] as const) {
    const { error: said = '' } = await send({ connection_id, to: address(), subject: 'A', body_text: 'B', ...more })
    t.regex(said, /^VALIDATION_ERROR: /)
    t.regex(said, error)
  }
  t.deepEqual(await made(w.org.owner.get(`${w.org.path}/messages`)), [])
})
