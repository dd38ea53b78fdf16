import { randomBytes, randomUUID } from 'node:crypto'
import test from 'ava'
import { readInvitationStatus } from '#test/features/messages/rows.ts'
import { connect, made, type PostOffice, read, sender, shareOffice } from '#test/features/messages/support.ts'
import { retryJobsNow, setWorkspaceStatus, updateWorkspace } from '#test/support/rows.ts'

const fresh = shareOffice(test)
const oneClick = 'List-Unsubscribe=One-Click'
const encoded = { 'content-type': 'application/x-www-form-urlencoded' }

/** A workspace that sends messages to one address, and the path of the link in one of them. */
async function subscribed(t: Parameters<typeof sender>[0], to: string) {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port)
  const send = await sender(t, w.org)
  const message = { connection_id, to, subject: 'News', body_text: 'New things' }
  const { message_id } = await send(message)
  await w.drain()
  const raw = w.server.taken.find(({ mail }) => mail.messageId?.includes(message_id))?.raw ?? ''
  const [, path = ''] = /^List-Unsubscribe:\s+<http:\/\/localhost:\d*(\/unsubscribe\/[\w-]{64})>/m.exec(raw) ?? []
  t.regex(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  return { w, path, message_id, send: (more: object = {}) => send({ ...message, ...more }) }
}

const listOf = ({ org }: PostOffice) => made(org.owner.get(`${org.path}/messages/do-not-contact`))

test('unsubscribe: a one-click request, url-encoded or multipart, without cookies and of any origin, ends messages', async (t) => {
  const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW'
  const parts = `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`
  for (const [body, type] of [
    [oneClick, encoded['content-type']],
    [parts, `multipart/form-data; boundary=${boundary}`],
  ] as const) {
    const { w, path, message_id, send } = await subscribed(t, 'Ann@Example.com')
    const answer = await w.visitor.send('POST', path, body, {
      'content-type': type,
      'sec-fetch-site': 'cross-site',
      origin: 'https://mail.example',
    })
    t.is(answer.status, 200, answer.text)
    const [entry] = await listOf(w)
    t.like(entry, { address: 'ann@example.com', reason: 'unsubscribed', message_id })
    t.is((await send()).skipped, true)
  }
})

test('unsubscribe: opening the link changes nothing; its form unsubscribes, and may be sent again', async (t) => {
  const { w, path, send } = await subscribed(t, 'bea@example.com')
  for (let number = 0; number < 100; number++) await w.visitor.send(number % 2 ? 'GET' : 'HEAD', path)
  t.deepEqual(await listOf(w), [])
  const { text } = await w.visitor.get(path)
  t.regex(text, /Shall .*Acme.* send no more messages to .*bea@example\.com.*\?/)
  const [, formToken = ''] = /name="form_token" value="([\w-]+)"/.exec(text) ?? []
  const unsigned = await w.visitor.send('POST', path, '', encoded)
  t.is(unsigned.status, 400)
  t.regex(unsigned.text, /press the button once more/)
  for (const forged of [
    `form_token=${formToken.slice(0, -1)}`,
    'form_token=',
    `form_token=${'é'.repeat(formToken.length)}`,
    'List-Unsubscribe=one',
  ]) {
    t.is((await w.visitor.send('POST', path, forged, encoded)).status, 400)
  }
  t.deepEqual(await listOf(w), [])
  for (const _ of [1, 2]) {
    const { status, text: done } = await w.visitor.send('POST', path, `form_token=${formToken}`, encoded)
    t.is(status, 200)
    t.regex(done, /gets no more messages from/)
  }
  t.is((await listOf(w)).length, 1)
  t.regex((await w.visitor.get(path)).text, /gets no more messages from/)
  t.is((await send()).skipped, true)
})

test('unsubscribe: a link of another installation is 404', async (t) => {
  const { w, path } = await subscribed(t, 'cy@example.com')
  const token = path.slice('/unsubscribe/'.length)
  const bytes = Buffer.from(token, 'base64url')
  const forged = [
    ...Array.from({ length: 20 }, () => randomBytes(48).toString('base64url')),
    ...[0, 20, 40, 47].map((at) => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))).toString('base64url')),
    ...[token.slice(0, -1), `${token}A`, `${token}=`, token.toLowerCase(), randomUUID(), 'x', '..%2f'],
  ]
  for (const one of forged) {
    t.is((await w.visitor.send('POST', `/unsubscribe/${one}`, oneClick, encoded)).status, 404, one)
    t.is((await w.visitor.get(`/unsubscribe/${one}`)).status, 404, one)
  }
  t.deepEqual(await listOf(w), [])
})

test('unsubscribe: an address matches in every spelling and with any tag', async (t) => {
  const { w, path, send } = await subscribed(t, 'Dörte.Müller@Bücher.example')
  await w.visitor.send('POST', path, oneClick, encoded)
  t.like((await listOf(w))[0], { address: 'dörte.müller@xn--bcher-kva.example' })
  for (const to of [
    'DÖRTE.MÜLLER@bücher.EXAMPLE',
    'dörte.müller@xn--bcher-kva.example',
    'Do\u0308rte.Mu\u0308ller@BÜCHER.example',
    'dörte.müller+shop@bücher.example',
  ])
    t.is((await send({ to })).skipped, true, to)
  for (const to of ['dorte.muller@bücher.example', 'dörte.müller@bucher.example', 'dörtemüller@bücher.example'])
    t.is((await send({ to })).skipped, false, to)
  const list = `${w.org.path}/messages/do-not-contact`
  t.is((await w.org.owner.get(`${list}/${encodeURIComponent('DÖRTE.MÜLLER@BÜCHER.example')}`)).status, 200)
  t.is((await w.org.owner.delete(`${list}/${encodeURIComponent('Dörte.Müller@Bücher.example')}`)).status, 204)
  t.is((await w.org.owner.delete(`${list}/${encodeURIComponent('Dörte.Müller@Bücher.example')}`)).status, 404)
  t.is((await send()).skipped, false)
  await w.drain()
})

// The server also refuses messages of other tests, which do not run meanwhile.
test('unsubscribe: a recipient who unsubscribes does not get waiting messages, and still gets required mails', async (t) => {
  const to = `${randomUUID()}@example.com`
  const { w, path, send } = await subscribed(t, to)
  const arrived = () => w.server.taken.filter(({ to: [one] }) => one === to).length
  t.is(arrived(), 1)
  w.server.refuse({ code: 451, text: 'later' })
  const { message_id, skipped } = await send()
  t.false(skipped)
  await w.drain()
  await w.visitor.send('POST', path, oneClick, encoded)
  w.server.refuse(null)
  await retryJobsNow(w.db, 'mail.send')
  w.worker.pools.pollAll()
  await w.drain()
  t.like(await read(w.org, message_id), { status: 'skipped' })
  t.is(arrived(), 1)
  t.is((await w.org.owner.post(`${w.org.path}/members`, { email: to })).status, 201)
  await w.drain()
  t.is(await readInvitationStatus(w.db, to), 'sent')
})

test('unsubscribe: a recipient may unsubscribe from a suspended workspace', async (t) => {
  const { w, path } = await subscribed(t, 'eva@example.com')
  await updateWorkspace(w.db, w.org.id, `status = 'suspended', color = '#336699'`)
  t.regex((await w.visitor.get(path)).text, /336699\.css/)
  t.is((await w.visitor.send('POST', path, oneClick, encoded)).status, 200)
  await setWorkspaceStatus(w.db, w.org.id, 'active')
  t.is((await listOf(w)).length, 1)
})
