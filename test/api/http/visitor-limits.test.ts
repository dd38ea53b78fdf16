import test from 'ava'
import { sections } from '#api/routes.ts'
import { admitVisitors, makeForm } from '#test/features/forms/making.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1', VISITOR_READS_PER_MINUTE: '3' })

test('visitor limits: an address that a proxy sends with its port counts by itself', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const { open } = await makeForm(w)
  const statusOf = async (forwarded: string) => (await w.visitor.get(open, { 'x-forwarded-for': forwarded })).status
  for (const [client, other] of [
    ['203.0.113.7', '203.0.113.8:4000'],
    ['[2001:db8:7::1]', '[2001:db8:8::1]:4000'],
  ]) {
    for (const port of [1, 2, 3]) t.is(await statusOf(`${client}:${port}`), 200)
    t.is(await statusOf(`${client}:4`), 429, 'another port is the same client')
    t.is(await statusOf(client?.replace(/[[\]]/g, '') ?? ''), 429, 'without a port, too')
    t.is(await statusOf(other ?? ''), 200)
  }
})

test('visitor limits: every GET of a visitor has a limit', (t) => {
  const reads = sections.flatMap(({ routes }) => routes.filter(({ method, permission }) => method === 'GET' && permission === 'public'))
  t.true(reads.length > 10)
  t.deepEqual(
    reads.filter(({ limit }) => limit === null).map(({ path }) => path),
    [],
  )
})

test('visitor limits: GET and HEAD of a form and its page count together, up to the limit of the operator', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const { open, hosted } = await makeForm(w)
  const address = fromAnywhere()
  const head = () => fetch(`http://127.0.0.1:${w.api.port}${hosted}`, { method: 'HEAD', headers: address })
  const first = await w.visitor.get(open, address)
  t.is(first.headers.get('ratelimit-policy'), '"content";q=3;w=60')
  t.deepEqual([first.status, (await w.visitor.get(hosted, address)).status, (await head()).status], [200, 200, 200])
  const refused = await w.visitor.get(open, address)
  t.is(refused.status, 429)
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/)
  t.deepEqual([(await w.visitor.get(hosted, address)).status, (await head()).status], [429, 429])
  t.is((await w.visitor.get(open, fromAnywhere())).status, 200)
})
