import test from 'ava'
import { makeCalendar } from '#test/features/calendar/support.ts'
import { admitVisitors, makeForm } from '#test/features/forms/making.ts'
import { connect, makeLink } from '#test/features/payments/place.ts'
import { putFile } from '#test/features/sites/making.ts'
import { pngFile } from '#test/features/sites/picture.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, { LOG_LEVEL: 'silent' })

const put = (w: World, path: string, bytes: string | Uint8Array, type = 'image/png') =>
  putFile(w, `${w.org.path}/assets/${path}`, bytes, type)

test('logo: a workspace’s logo is on its public pages, with its name as alternative text', async (t) => {
  const w = await start()
  t.is((await w.org.owner.get(w.org.path)).data.logo, null)
  await w.org.owner.patch(w.org.path, { name: 'Öztürk & "Co"' })
  await admitVisitors(w)
  const form = await makeForm(w)
  const calendar = await makeCalendar(t, w, { settings: { booking: { enabled: true } } })
  const link = await makeLink(w.org, await connect(w.org, 'sandbox'))
  const pages = [form.hosted, `/book/${w.org.id}/${calendar.key}`, new URL(link.short_url).pathname]
  for (const page of pages) t.notRegex((await w.visitor.get(page)).text, /<img/)
  const picture = pngFile()
  t.is((await put(w, 'brand/logo.png', picture)).status, 201)
  const changed = await w.org.owner.patch(w.org.path, { logo: 'brand/logo.png' })
  t.is(changed.data.logo, 'brand/logo.png', changed.text)
  for (const page of pages)
    t.true((await w.visitor.get(page)).text.includes(`<img src="/logo/${w.org.id}" alt="Öztürk &amp; &quot;Co&quot;">`), page)
  const served = await w.visitor.get(`/logo/${w.org.id}`)
  t.is(served.status, 200)
  t.is(served.headers.get('content-type'), 'image/png')
  t.is(served.headers.get('x-content-type-options'), 'nosniff')
  t.is(served.headers.get('content-security-policy'), "sandbox; default-src 'none'")
  t.is(served.headers.get('content-length'), String(picture.length))
  t.is((await w.org.owner.patch(w.org.path, { logo: null })).data.logo, null)
  t.is((await w.visitor.get(`/logo/${w.org.id}`)).status, 404)
})

test('logo: only a picture without scripts becomes a logo, independent of its declared type', async (t) => {
  const w = await start()
  const script = '<script>alert(1)</script>'
  await put(w, 'drawing.svg', `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, 'image/svg+xml')
  await put(w, 'page.png', `<!doctype html>${script}`)
  await put(w, 'empty.png', '')
  await put(w, 'large.png', Buffer.concat([pngFile(), Buffer.alloc(1_048_577)]))
  t.is((await w.org.owner.put(`${w.org.path}/assets/document`, { title: 'x' })).status, 201)
  for (const logo of ['drawing.svg', 'page.png', 'empty.png', 'large.png', 'document', 'nothing.png', '../assets/page.png', '/']) {
    const { status, body } = await w.org.owner.patch(w.org.path, { logo, name: 'Changed' })
    t.is(status, 400, logo)
    t.regex(body.error.message, /^logo must be the path of a PNG, JPEG, GIF, WebP or AVIF file/)
  }
  t.like((await w.org.owner.get(w.org.path)).data, { logo: null, name: 'Acme' }, 'nothing else of the change is kept')
})

test('logo: a logo whose file was replaced or deleted is not served', async (t) => {
  const w = await start()
  await put(w, 'logo.png', pngFile())
  await w.org.owner.patch(w.org.path, { logo: 'logo.png' })
  await put(w, 'logo.png', '<!doctype html><script>alert(1)</script>')
  t.is((await w.visitor.get(`/logo/${w.org.id}`)).status, 404)
  await put(w, 'logo.png', pngFile())
  t.is((await w.visitor.get(`/logo/${w.org.id}`)).status, 200)
  await w.org.owner.delete(`${w.org.path}/assets/logo.png`)
  t.is((await w.visitor.get(`/logo/${w.org.id}`)).status, 404)
})
