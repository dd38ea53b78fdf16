import { readFileSync } from 'node:fs'
import test from 'ava'
import { connect, made, shareOffice } from '#test/features/messages/support.ts'

const fresh = shareOffice(test)

const naughty = JSON.parse(readFileSync('test/fixtures/strings/naughty-strings.json', 'utf8')) as readonly string[]
const written = [
  'a\r\nBcc: victim@example.com\r\n\r\nBuy',
  'a\nSubject: other',
  'a\u2028b\u2029c\u0085d',
  '\r\n.\r\nMAIL FROM:<x@example.com>',
  '.\n..\n.',
  '=?utf-8?q?=0d=0aBcc:_victim@example.com?=',
  'x'.repeat(3_000),
  `${'ä'.repeat(300)} ${'👩‍👩‍👧‍👦'.repeat(20)}`,
  '\u202eright to left\u202c مرحبا',
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '"><a href="javascript:alert(1)">x</a>',
  "' onmouseover='alert(1)",
  '{{s}} {{{{s}}}} {{constructor}} {{__proto__}}',
  'From me\nFrom you\n>From us',
  'tab\there, vertical\u000btab, form\u000cfeed',
]
// A request with such characters is refused before.
const texts = [...written, ...naughty.filter((text) => text.isWellFormed() && !text.includes('\0')).slice(0, 36)]

const shown = (text: string | undefined): string => (text ?? '').replace(/\r\n?/g, '\n').trimEnd()

test('hostile: names, subjects and variables with any text add no headers to a mail, and appear as typed', async (t) => {
  const w = await fresh()
  const { id: connection_id } = await connect(w.org, w.server.port, { from: 'Shop & Söhne 👋 <shop@example.com>' })
  const source = `async function handler({ connection_id, texts }) {
    for (const [n, s] of texts.entries())
      await sdk.messages.send({ connection_id, to: n + '@example.com', subject: 'S {{s}}', body_text: 'T {{s}}', body_html: '<p title="{{s}}">H {{s}}</p><a href="{{s}}">x</a>', vars: { s } })
  }`
  const { id } = await made(w.org.owner.post(`${w.org.path}/functions`, { name: 'All', source, timeout_ms: 60_000 }))
  const short = texts.map((text) => text.slice(0, 450))
  const ran = await made(w.org.owner.post(`${w.org.path}/functions/${id}/invoke`, { input: { connection_id, texts: short } }))
  t.is(ran.error, undefined)
  await w.drain()
  for (const [n, text] of short.entries()) {
    const mails = w.server.taken.filter(({ to }) => to[0] === `${n}@example.com`)
    t.is(mails.length, 1, text)
    const [{ mail, raw, to } = t.fail() as never] = mails
    t.is(to.length, 1)
    const names = raw
      .slice(0, raw.indexOf('\r\n\r\n'))
      .split('\r\n')
      .flatMap((line) => /^([\w-]+):/.exec(line)?.[1] ?? [])
    t.deepEqual(
      names,
      ['List-Unsubscribe', 'List-Unsubscribe-Post', 'From', 'To', 'Subject', 'Message-ID', 'Date', 'MIME-Version', 'Content-Type'],
      text,
    )
    t.deepEqual(mail.from, { name: 'Shop & Söhne 👋', address: 'shop@example.com' })
    t.is(mail.subject, `S ${text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')}`.trim(), text)
    t.is(shown(mail.text), shown(`T ${text}`), text)
    t.notRegex(mail.html ?? '', /<script|<img|<a href="\s*(?!https?:|mailto:)[a-z][a-z0-9+.-]*:| onmouseover='/i, text)
    t.true(raw.split('\r\n').every((line) => Buffer.byteLength(line) <= 998))
  }
})
