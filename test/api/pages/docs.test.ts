import test from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { world } from '#test/support/world.ts'

const fresh = shareWorld(test)

test('docs: the description is JSON that a browser caches', async (t) => {
  const w = await fresh()
  const first = await w.visitor.get('/openapi.json')
  t.is(first.status, 200)
  t.is(first.headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(first.body.openapi, '3.1.0')
  t.is(first.body.servers[0].url, w.config.publicUrl)
  t.truthy(first.body.paths['/v1/orgs/{orgId}/jobs/{jobId}'].get)
  const again = await w.visitor.get('/openapi.json', { 'if-none-match': first.headers.get('etag') ?? '', 'cache-control': 'max-age=0' })
  t.is(again.status, 304)
  t.is(again.text, '')
})

test('docs: the reference page consists of files of this server and runs no foreign script', async (t) => {
  const w = await fresh()
  const page = await w.visitor.get('/docs/reference')
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.regex(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self';/)
  t.notRegex(page.text, /<script>|https?:/)
  const addresses = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  t.is(addresses.length, 5)
  for (const address of addresses) {
    const file = await w.visitor.get(address)
    t.is(file.status, 200, address)
    t.is(file.headers.get('x-content-type-options'), 'nosniff')
    t.regex(file.headers.get('content-type') ?? '', /^(?:image\/png|text\/css|text\/javascript)/)
  }
  t.regex((await w.visitor.get('/docs/start.js')).text, /"\/openapi\.json"/)
})

test('docs: files of the reference page are immutable, and no other file of the package is served', async (t) => {
  const w = await fresh()
  const [styles = ''] = /\/docs\/[\d.]+\/swagger-ui\.css/.exec((await w.visitor.get('/docs/reference')).text) ?? []
  t.regex((await w.visitor.get(styles)).headers.get('cache-control') ?? '', /immutable/)
  for (const name of ['package.json', 'index.html', '..%2fpackage.json', '%2e%2e%2fpackage.json', 'constructor', '__proto__']) {
    const answer = await w.visitor.get(styles.replace('swagger-ui.css', name))
    t.is(answer.status, 404, name)
    t.is(answer.body.error.code, 'NOT_FOUND')
  }
})

test('docs: behind a base path the page requests files below that path', async (t) => {
  const w = await world({ PUBLIC_URL: 'https://example.com/kontor' })
  t.teardown(w.close)
  t.regex((await w.visitor.get('/docs/reference')).text, /src="\/kontor\/docs\//)
  t.regex((await w.visitor.get('/docs/start.js')).text, /"\/kontor\/openapi\.json"/)
})
