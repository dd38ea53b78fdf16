import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { readConfig } from '#shared/platform/kernel/config.ts'

const least = { DATABASE_URL: 'postgres://a', SECRET_KEY: '0'.repeat(64) }

for (const [given, read] of [
  ['', []],
  ['127.0.0.1:1025', ['127.0.0.1:1025']],
  [' Mail.Example:587 , [::1]:25,', ['mail.example:587', '[::1]:25']],
  ['0x7f.1:080', ['127.0.0.1:80']],
] as const)
  test(`config: EGRESS_ALLOW "${given}" opens ${read.join(' and ') || 'nothing'}`, (t) => {
    t.deepEqual(readConfig({ ...least, EGRESS_ALLOW: given }).egressAllow, read)
  })

for (const given of ['localhost', 'http://a:1', 'a:b', 'a:70000', 'a:1:2', 'a/b:1', ':25'])
  test(`config: EGRESS_ALLOW "${given}" is a bad start`, (t) => {
    t.throws(() => readConfig({ ...least, EGRESS_ALLOW: given }), { message: /EGRESS_ALLOW must be a list of host:port/ })
  })

for (const [name, given] of [
  ['PUBLIC_URL', 'https://a.example/?b'],
  ['PUBLIC_URL', 'https://a.example/#b'],
  ['PUBLIC_URL', 'https://user:secret@a.example'],
  ['PUBLIC_URL', 'https://a.example '],
  ['S3_ENDPOINT', 'https://user:secret@a.example'],
  ['STRIPE_API_URL', 'https://a.example/v1?b'],
  ['RAZORPAY_API_URL', 'https://a.example/v1?b'],
  ['SMTP_URL', 'smtp://'],
  ['SMTP_URL', 'smtp:mail.example'],
  ['MAIL_FROM', 'Kontor'],
  ['MAIL_FROM', 'Kontor <a@b.example>, c@d.example'],
  ['MAIL_FROM', 'a@b.example\nBcc: c@d.example'],
] as const)
  test(`config: ${name} ${JSON.stringify(given)} is a bad start`, (t) => {
    const error = t.throws(() => readConfig({ ...least, [name]: given }))
    t.regex(String(error?.message), new RegExp(`^  ${name} must `, 'm'))
    t.notRegex(String(error?.message), /secret/)
  })

test('config: addresses may have a path, and the sender of mail may have a name', (t) => {
  const given = { ...least, PUBLIC_URL: 'https://a.example/kontor/', SMTP_URL: 'smtps://user:p%40ss@mail.example:465' }
  t.like(readConfig(given), { publicUrl: 'https://a.example/kontor', smtpUrl: given.SMTP_URL, mailFrom: 'Kontor <no-reply@localhost>' })
  for (const from of ['a@b.example', 'Ann Ö. (Kontor) <a@b.example>']) t.is(readConfig({ ...least, MAIL_FROM: from }).mailFrom, from)
})

test('config: mail is signed with a PEM key, which may be on one line, and only with all three settings', (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' })).trim()
  const all = { ...least, DKIM_DOMAIN: 'example.com', DKIM_SELECTOR: 's1', DKIM_KEY: pem.replaceAll('\n', '\\n') }
  t.deepEqual(readConfig(all).dkim, { domain: 'example.com', selector: 's1', privateKey: pem })
  t.is(readConfig(least).dkim, null)
  t.throws(() => readConfig({ ...all, DKIM_SELECTOR: '' }), { message: /DKIM_SELECTOR is required/ })
  const error = t.throws(() => readConfig({ ...all, DKIM_KEY: 'secret words' }))
  t.regex(String(error?.message), /DKIM_KEY must be an RSA private key/)
  t.notRegex(String(error?.message), /secret words/)
})
