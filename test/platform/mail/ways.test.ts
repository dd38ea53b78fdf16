import test from 'ava'
import { openEgress } from '#shared/platform/egress/egress.ts'
import { readConfig } from '#shared/platform/kernel/config.ts'
import { connectionTransport } from '#workers/features/messages/connection-transport.ts'

const least = { DATABASE_URL: 'postgres://a', SECRET_KEY: '0'.repeat(64) }
const connection = { id: '', port: 587, secure: false, password: 'hush', from: 'Shop <shop@example.com>', dkim: null, updatedAt: '' }

for (const [host, username, allow, requireTLS, rejectUnauthorized] of [
  ['mail.example.com', 'shop', '', true, undefined],
  ['mail.example.com', '', '', false, undefined],
  ['mail.internal', 'shop', 'mail.internal:587', false, undefined],
  ['mail.internal', 'shop', 'mail.internal:25', true, undefined],
  ['127.0.0.1', 'shop', '127.0.0.1:587', false, false],
  ['::1', 'shop', '[::1]:587', false, false],
  ['127.0.0.1', 'shop', '', true, undefined],
] as const)
  test(`ways: a connection to ${host} as "${username}" with "${allow}" opened ${requireTLS ? 'needs' : 'does without'} TLS`, (t) => {
    const config = readConfig({ ...least, EGRESS_ALLOW: allow })
    const ways = { config, egress: openEgress(config, async () => false) }
    const { server, from } = connectionTransport(ways, { ...connection, host, username })
    t.is(server.requireTLS, requireTLS)
    t.is(server.tls?.rejectUnauthorized, rejectUnauthorized)
    t.deepEqual(server.auth, username === '' ? undefined : { user: 'shop', pass: 'hush' })
    t.deepEqual(from, { name: 'Shop', address: 'shop@example.com' })
  })
