import { readFileSync } from 'node:fs'
import test from 'ava'
import { operatorDialer, restrictedDialer } from '#shared/platform/egress/dialer.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { callHttp } from '#shared/platform/egress/http.ts'
import { exchangeTcp } from '#shared/platform/egress/tcp.ts'
import { type StandIn, standIn } from '#test/platform/egress/stand-in.ts'

interface Hostile {
  readonly url: string
  readonly must: 'block' | 'refuse' | 'resolve'
}
const { urls } = JSON.parse(readFileSync('test/fixtures/ssrf/ssrf-urls.json', 'utf8')) as { urls: readonly Hostile[] }

const call = (wire: StandIn, url: string, allow: readonly string[] = []) =>
  callHttp(restrictedDialer({ egressAllow: allow }, wire), { url, method: 'GET', timeoutMs: 2_000, maxBytes: 1_000 }).then(
    () => 'answered',
    (error: unknown) => (error instanceof EgressFailure ? error.reason : String(error)),
  )

test('door: none of 93 hostile addresses is dialled, behind any name', async (t) => {
  t.is(urls.length, 93)
  const inward = standIn({ '*': [['169.254.169.254']] })
  for (const { url, must } of urls) {
    t.is(await call(inward, url), 'refused', `${must} ${url}`)
  }
  t.deepEqual(inward.dialled, [])
})

for (const [what, answers] of [
  ['a private address alone', ['10.0.0.1']],
  ['a public and a private one', ['8.8.8.8', '10.0.0.1']],
  ['300 public ones and one of loopback', [...Array.from({ length: 300 }, (_, n) => `8.8.${n % 200}.8`), '::1']],
  ['a mapped one', ['::ffff:192.168.1.1']],
  ['no address that can be read', ['fe80::1%eth0']],
] as const)
  test(`door: a name with ${what} is refused`, async (t) => {
    const wire = standIn({ 'a.example': [answers] })
    t.is(await call(wire, 'http://a.example/'), 'refused')
    t.deepEqual(wire.dialled, [])
  })

test('door: a name that resolves to a public and then to a private address is resolved once, and the checked address is dialled under its name', async (t) => {
  const wire = standIn({ 'rebind.example': [['8.8.8.8'], ['127.0.0.1']] })
  t.is(await call(wire, 'https://rebind.example/'), 'unreachable')
  t.deepEqual(wire.asked, ['rebind.example'])
  t.deepEqual(wire.dialled, [{ host: 'rebind.example', port: 443, addresses: ['8.8.8.8'], tls: true }])
})

test('door: a name without an address or with thousands costs a few tries', async (t) => {
  const wire = standIn({ 'many.example': [Array.from({ length: 3_000 }, (_, n) => `8.${n % 200}.1.1`)] })
  t.is(await call(wire, 'http://none.example/'), 'unreachable')
  await call(wire, 'http://many.example/')
  t.is(wire.dialled[0]?.addresses.length, 8)
})

for (const [opened, url, dialled] of [
  ['127.0.0.1:1', 'http://127.0.0.1:1/', true],
  ['127.0.0.1:1', 'http://0x7f.1:1/', true],
  ['127.0.0.1:1', 'http://127.0.0.1:2/', false],
  ['127.0.0.1:1', 'http://127.0.0.2:1/', false],
  ['127.0.0.1:80', 'http://127.0.0.1/', true],
  ['[::1]:25', 'http://[0::1]:25/', true],
  ['inside.example:443', 'https://inside.example/', true],
  ['inside.example:443', 'http://inside.example/', false],
] as const)
  test(`door: with ${opened} opened ${url} is ${dialled ? 'dialled' : 'refused'}`, async (t) => {
    const wire = standIn({ 'inside.example': [['10.1.2.3']] })
    t.is(await call(wire, url, [opened]), dialled ? 'unreachable' : 'refused')
    t.is(wire.dialled.length, dialled ? 1 : 0)
  })

for (const host of ['127.0.0.1', '0x7f.1', '127。0。0。1', '::1', '[::1]', 'localhost', 'a@8.8.8.8', '8.8.8.8/', '8.8.8.8:25', 'a b', ''])
  test(`door: a mail server at "${host}" is refused`, async (t) => {
    const wire = standIn({ localhost: [['127.0.0.1']] })
    const exchange = { host, port: 25, tls: false, timeoutMs: 1_000, maxBytes: 1_000 }
    const error = await t.throwsAsync(exchangeTcp(restrictedDialer({ egressAllow: [] }, wire), exchange, async () => undefined))
    t.is((error as EgressFailure).reason, 'refused')
    t.deepEqual(wire.dialled, [])
  })

test('door: addresses of the operator are dialled without a check', async (t) => {
  const wire = standIn({ 'agent.internal': [['10.0.0.7']] })
  const url = 'http://agent.internal:8080/v1'
  const error = await t.throwsAsync(callHttp(operatorDialer(wire), { url, method: 'POST', timeoutMs: 1_000, maxBytes: 1_000 }))
  t.is((error as EgressFailure).reason, 'unreachable')
  t.deepEqual(wire.dialled, [{ host: 'agent.internal', port: 8080, addresses: ['10.0.0.7'], tls: false }])
})
