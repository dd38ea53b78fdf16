import { request } from 'node:http'
import test from 'ava'
import { contentHost } from '#api/features/sites/content-host.ts'
import { admitVisitors, makeSite, putDocument } from '#test/features/sites/making.ts'
import { type World, world } from '#test/support/world.ts'

/** The answer of a host. Raw, since `fetch` does not allow a Host header. */
const ask = (w: World, host: string, path: string): Promise<{ status: number; policy: string | undefined }> =>
  new Promise((resolve, reject) => {
    const sent = request({ port: w.api.port, host: '127.0.0.1', path, headers: { host } }, (answer) => {
      answer.resume()
      resolve({ status: answer.statusCode ?? 0, policy: answer.headers['content-security-policy'] as string | undefined })
    })
    sent.on('error', reject).end()
  })

async function begin(contentUrl: string) {
  const w = await world({ CONTENT_URL: contentUrl, PUBLIC_URL: 'https://kontor.example' })
  await admitVisitors(w)
  const site = await makeSite(w)
  await putDocument(w, site, 'page')
  return { w, page: `${site.open}/page` }
}

test('content host: with a host for each workspace, content is served only there, in an origin of its own, and nothing else is', async (t) => {
  const { w, page } = await begin('https://{org}.content.example')
  t.teardown(w.close)
  const own = `${w.org.id}.content.example`
  t.deepEqual(await ask(w, own, page), { status: 200, policy: undefined })
  t.is((await ask(w, own.toUpperCase(), page)).status, 200)
  t.is((await ask(w, 'kontor.example', page)).status, 404)
  t.is((await ask(w, `00000000-0000-4000-8000-000000000000.content.example`, page)).status, 404)
  t.is((await ask(w, `x${own}`, page)).status, 404)
  for (const path of ['/', '/docs', '/v1/auth/me', `/f/${w.org.id}/x`, '/healthz', '/content', '/pages/x'])
    t.is((await ask(w, own, path)).status, 404, path)
  t.is((await ask(w, 'kontor.example', '/')).status, 200)
})

test('content host: with one host for all workspaces, content is served at both hosts, with an opaque origin', async (t) => {
  const { w, page } = await begin('https://content.example')
  t.teardown(w.close)
  for (const host of ['content.example', 'kontor.example']) {
    const { status, policy = '' } = await ask(w, host, page)
    t.is(status, 200, host)
    t.regex(policy, /^sandbox/)
  }
  t.is((await ask(w, 'content.example', '/docs')).status, 404)
})

test('content host: a host matches only as a whole', (t) => {
  const hosts = contentHost({ contentUrl: 'http://{org}.localhost:3000' })
  const id = '01a1fbc7-fde3-7a3b-b7ab-8fee04ad615d'
  t.deepEqual(hosts?.match(`${id}.localhost:3000`), { orgId: id })
  for (const host of ['localhost:3000', '.localhost:3000', `${id}.localhost`, `${id}.localhost:3001`, `a.${id}.localhost:3000`, ''])
    t.is(hosts?.match(host), undefined, host)
  t.is(contentHost({ contentUrl: null }), undefined)
})
