import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { authenticate } from 'mailauth'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { queueMail } from '#shared/platform/mail/outbox.ts'
import { connect, sender } from '#test/features/messages/support.ts'
import { startMailServer } from '#test/platform/mail/smtp.ts'
import { world } from '#test/support/world.ts'

/** A key to sign with, and the DNS record of its public half. */
function makeKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { pem, record: `v=DKIM1; k=rsa; p=${spki}` }
}

interface Verdict {
  readonly status: { readonly result: string; readonly aligned?: string }
  readonly signingDomain: string
  readonly signingHeaders: { readonly keys: string }
}

test('dkim: mail is signed by its sender: by the operator on its own server, by a connection with its own key or not at all', async (t) => {
  const server = await startMailServer(t)
  const [operators, own] = [makeKey(), makeKey()]
  const w = await world({
    SMTP_URL: server.url,
    MAIL_FROM: 'Kontor <post@kontor.example>',
    EGRESS_ALLOW: `127.0.0.1:${server.port}`,
    DKIM_DOMAIN: 'kontor.example',
    DKIM_SELECTOR: 'k1',
    DKIM_KEY: operators.pem.replaceAll('\n', '\\n'),
  })
  t.teardown(w.close)
  const dkim = { domain: 'Shop.example', selector: 's1', private_key: own.pem }
  const signing = await connect(w.org, server.port, { from: 'Shop <post@shop.example>', dkim })
  const bare = await connect(w.org, server.port, { from: 'post@other.example' })
  const send = await sender(t, w.org)
  const words = { subject: 'Grüße – 你好 👋', body_text: `Line\n${'long '.repeat(400)}\n.\n`, body_html: '<p>Grüße 👋</p>' }
  await send({ ...words, connection_id: signing.id, to: 'ann@example.com' })
  await send({ ...words, connection_id: bare.id, to: 'bea@bücher.example' })
  await w.org.owner.post(`${w.org.path}/members`, { email: 'cy@example.com' })
  const cause = platformCause('test')
  const calendar = { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n' } as const
  const { database: db, jobQueue } = w.api.services
  const booking = { workspaceId: w.org.id, kind: 'booking', to: 'di@example.com', subject: 'Booked', text: 'See you', calendar }
  await queueMail({ db, jobQueue, cause }, booking)
  await w.drain()

  const resolver = async (name: string, type: string) => {
    const records: Record<string, string> = { 'k1._domainkey.kontor.example': operators.record, 's1._domainkey.shop.example': own.record }
    if (type === 'TXT' && records[name]) return [[records[name]]]
    throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  }
  const seen = new Map<string, Verdict>()
  for (const { to, raw } of server.taken) {
    const { dkim } = await authenticate(raw, {
      ip: '127.0.0.1',
      helo: 'x',
      sender: 'post@shop.example',
      mta: 'mx.example',
      resolver,
    } as never)
    if (to[0] === 'bea@bücher.example') t.notRegex(raw, /^DKIM-Signature:/im, 'the operator does not sign a From of a workspace')
    t.is(dkim.results.length, 1)
    seen.set(to[0] ?? '', dkim.results[0] as unknown as Verdict)
  }
  t.deepEqual([...seen.keys()].sort(), ['ann@example.com', 'bea@bücher.example', 'cy@example.com', 'di@example.com'])
  for (const [to, { status, signingDomain }] of seen) {
    t.is(status.result, to === 'bea@bücher.example' ? 'none' : 'pass', to)
    if (status.result === 'pass') t.is(signingDomain, to === 'ann@example.com' ? 'shop.example' : 'kontor.example')
  }
  t.is(seen.get('ann@example.com')?.status.aligned, 'shop.example', 'From is aligned with the connection’s own signature')
  const coveredOf = (to: string) =>
    seen
      .get(to)
      ?.signingHeaders.keys.toLowerCase()
      .split(/\s*:\s*/) ?? []
  const [ofMessage, ofInvitation] = [coveredOf('ann@example.com'), coveredOf('cy@example.com')]
  for (const name of ['from', 'to', 'subject', 'date', 'message-id', 'list-unsubscribe', 'list-unsubscribe-post'])
    t.true(ofMessage.includes(name), name)
  t.true(ofInvitation.includes('auto-submitted'))
  const warned = await w.org.owner.get(`${w.org.path}/messages/connections/${bare.id}`)
  t.is(warned.data.warnings.length, 1, 'a connection without a key warns that its messages are not signed')
})
