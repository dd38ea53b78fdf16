import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Page } from 'playwright-core'
import { admitVisitors, makeForm } from '#test/features/forms/making.ts'
import { admitVisitors as admitReaders, makeSite, putFile } from '#test/features/sites/making.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { browse } from '#test/support/browser.ts'
import { renameWorkspace } from '#test/support/rows.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { thingsOf } from '#test/support/things.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })
const { inBrowser, open } = browse(test)

const payloads = readFileSync(join(import.meta.dirname, '..', '..', '..', 'fixtures', 'strings', 'xss-payloads.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')

/** Shortens a text to a name: one line of so many characters. */
const short = (text: string, most: number): string =>
  [...text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')].slice(0, most).join('').trim() || 'x'

/** Records executed payloads: they call one of these functions, or cause an error. */
const tripwire = `
  window.ran = []
  for (const name of ['alert', 'confirm', 'prompt', 'print'])
    window[name] = (...given) => { window.ran.push(name + ' ' + given.join()) }
`

async function watched(page: Page): Promise<{ ran: string[] }> {
  const ran: string[] = []
  await page.addInitScript(tripwire)
  page.on('dialog', (dialog) => {
    ran.push(dialog.message())
    void dialog.dismiss()
  })
  return { ran }
}

/** The elements of a page without those that Markdown makes. */
const elements = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('*:not(.rich *)')].map((element) => element.tagName + ' ' + element.getAttributeNames().sort().join())`,
  )

/** Unexpected elements of Markdown, and links with other schemes. */
const strangers = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.rich *')].filter((element) =>
    !element.matches('p, br, h2, h3, h4, h5, h6, ul, ol, li, blockquote, em, strong, code, pre, hr, a[href]') ||
    element.getAttributeNames().some((name) => !(element.localName === 'a' ? ['href', 'title', 'rel', 'target'] : ['start', 'class']).includes(name)) ||
    (element.localName === 'a' && !/^(?:https?:[/][/]|mailto:|tel:)/.test(element.href))).map((element) => element.outerHTML)`)

inBrowser(
  `hostile: none of ${payloads.length} payloads runs or becomes an element in a form’s page, also without its policy`,
  async (t) => {
    const w = await start()
    await admitVisitors(w)
    const size = 100
    for (let from = 0; from < payloads.length; from += size) {
      const batch = payloads.slice(from, from + size)
      const formOf = (text: (index: number, most: number) => string) => ({
        name: text(0, 200),
        description: batch.map((_, index) => text(index, 48)).join('\n'),
        fields: batch.map((_, index) => ({
          key: `f_${index}`,
          label: text(index, 200),
          type: index % 2 === 0 ? 'select' : 'multiselect',
          options: [`${text(index, 190)} ${index}`],
        })),
        settings: { submit_label: short(text(1, 80), 80), success_message: batch.map((_, index) => text(index, 18)).join('\n') },
      })
      const shown: string[][] = []
      for (const [name, form] of [
        [`bad-${from}`, formOf((index, most) => short(batch[index] ?? 'x', most))],
        [`plain-${from}`, formOf((_, most) => 'x'.repeat(Math.min(9, most)))],
      ] as const) {
        await w.org.owner.patch(w.org.path, { name: form.name.slice(0, 120).trim() || 'x' })
        const made = await makeForm(w, form, name)
        const page = await open(t, { bypassCSP: true, extraHTTPHeaders: fromAnywhere() })
        const { ran } = await watched(page)
        await page.goto(w.visitor.root + made.hosted)
        await page.mouse.move(200, 200)
        shown.push(await elements(page))
        t.deepEqual(await strangers(page), [])
        const asked = page.waitForNavigation()
        await page.locator('button').click()
        await asked
        shown.push(await elements(page))
        t.deepEqual([...ran, ...((await page.evaluate('window.ran')) as string[])], [])
        await page.context().close()
      }
      t.deepEqual(shown.slice(0, 2), shown.slice(2), `payloads from ${from} on`)
    }
  },
)

inBrowser('hostile: input of a visitor is returned as text', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const fields = [
    ...['string', 'text', 'email', 'url', 'number'].map((type) => ({ key: `f_${type}`, label: type, type })),
    { key: 'needed', label: 'Needed', type: 'string', required: true },
  ]
  const made = await makeForm(w, { fields })
  const page = await open(t, { bypassCSP: true })
  const { ran } = await watched(page)
  await page.goto(w.visitor.root)
  for (const payload of payloads.filter((_, index) => index % 12 === 0)) {
    const values = Object.fromEntries(fields.slice(0, 5).map(({ key }) => [key, payload]))
    const answer = await w.visitor.post(made.hosted, new URLSearchParams({ ...values, id: payload }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      ...fromAnywhere(),
    })
    t.is(answer.status, 400)
    await page.setContent(answer.text.replaceAll(/<(?:link|meta)[^>]*>/g, ''))
    t.is(await page.locator('#f_string').inputValue(), payload.replaceAll(/[\r\n]/g, ''))
  }
  t.deepEqual([...ran, ...((await page.evaluate('window.ran')) as string[])], [])
})

inBrowser(
  `hostile: none of ${payloads.length} payloads runs or becomes an element in the pages of a booking, also without their policy`,
  async (t) => {
    const w = await start()
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
    const hours = Object.fromEntries(days.map((day) => [day, [['00:00', '24:00']]]))
    const tomorrow = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}T`
    const size = 40
    for (let from = 0; from < payloads.length; from += size) {
      const batch = payloads.slice(from, from + size)
      const shown: string[][] = []
      const hostile = (index: number, most: number) => short(batch[index % batch.length] ?? 'x', most)
      for (const text of [hostile, (_: number, most: number) => 'x'.repeat(Math.min(9, most))]) {
        const lines = (most: number) => batch.map((_, index) => text(index, most)).join('\n')
        const booking = {
          enabled: true,
          min_notice: 0,
          hours,
          title: text(from, 120),
          description: lines(45),
          location: text(from + 1, 200),
        }
        const key = `h-${crypto.randomUUID()}`
        const made = await w.org.owner.post(`${w.org.path}/calendar/calendars`, {
          key,
          kind: 'org',
          name: text(from + 2, 100),
          settings: { booking },
        })
        t.is(made.status, 201, made.text)
        const visitor = { name: text(from + 3, 150), email: 'ann@example.com', notes: lines(120) }
        const start = `${tomorrow}10:00:00Z`
        const booked = await w.visitor.post(`/cal/${w.org.id}/book/${key}`, { start, ...visitor }, fromAnywhere())
        t.is(booked.status, 201, booked.text)
        const page = await open(t, { bypassCSP: true, extraHTTPHeaders: fromAnywhere() })
        const { ran } = await watched(page)
        const bookPath = `/book/${w.org.id}/${key}?tz=UTC`
        const steps = ['', `&day=${tomorrow.slice(0, 10)}`, `&start=${tomorrow}12:00:00Z`].map((step) => bookPath + step)
        for (const path of [...steps, `/rsvp/${w.org.id}/${booked.data.token}`]) {
          await page.goto(w.visitor.root + path)
          await page.mouse.move(200, 200)
          shown.push(await elements(page))
          t.deepEqual([...ran, ...((await page.evaluate('window.ran')) as string[])], [])
        }
        await page.context().close()
      }
      t.deepEqual(shown.slice(0, 4), shown.slice(4), `payloads from ${from} on`)
    }
  },
)

inBrowser('hostile: names of workspaces and people are text on the pages that mails link to', async (t) => {
  const w = await start()
  const keys = { type: 'x', name: 'x', email: 'x', number: 'x', status: 'x', ref: 'x', refs: 'x' }
  const token = await thingsOf(w, w.org, 'x', keys).token()
  const page = await open(t, { bypassCSP: true })
  const { ran } = await watched(page)
  for (const payload of payloads.filter((_, index) => index % 25 === 0)) {
    await renameWorkspace(w.db, w.org.id, short(payload, 120))
    await page.goto(`${w.visitor.root}/accept-invite?token=${token}`)
    t.is((await page.locator('.brand').innerText()).replaceAll(/\s+/g, ' ').trim(), short(payload, 120).replaceAll(/\s+/g, ' ').trim())
  }
  t.deepEqual([...ran, ...((await page.evaluate('window.ran')) as string[])], [])
})

inBrowser('hostile: scripts of a website run in an opaque origin without storage and without access to other pages', async (t) => {
  const w = await start()
  await admitReaders(w)
  await admitVisitors(w)
  const made = await makeForm(w, {}, 'other')
  const site = await makeSite(w)
  const script = `
    const tell = (name, value) => { document.body.dataset[name] = String(value) }
    const tries = (work) => { try { return work() } catch (error) { return error.name } }
    tell('origin', window.origin)
    tell('storage', tries(() => localStorage.length))
    tell('cookie', tries(() => document.cookie))
    Promise.all(['${made.hosted}', '/accept-invite?token=x', '/reset?token=x', '${made.open}', '/healthz', '/docs', '/docs/reference'].map((path) =>
      fetch(path).then((answer) => answer.text().then(() => path), () => 'refused'))).then((all) => tell('read', [...new Set(all)]))`
  const rows = [
    ['page.html', 'text/html', `<!doctype html><body><script>${script}</script>`],
    [
      'page.xhtml',
      'application/xhtml+xml',
      `<html xmlns="http://www.w3.org/1999/xhtml"><body><script><![CDATA[${script}]]></script></body></html>`,
    ],
  ] as const
  const page = await open(t)
  for (const [path, type, text] of rows) {
    t.is((await putFile(w, `${site.inside}/${path}`, text, type)).status, 201)
    await page.goto(`${w.visitor.root}${site.open}/${path}`)
    await page.waitForFunction('document.body.dataset.read')
    t.deepEqual(
      await page.evaluate('({ ...document.body.dataset })'),
      { origin: 'null', storage: 'SecurityError', cookie: 'SecurityError', read: 'refused' },
      path,
    )
  }
  await putFile(
    w,
    `${site.inside}/a.svg`,
    `<svg xmlns="http://www.w3.org/2000/svg"><script>document.documentElement.id = window.origin</script></svg>`,
    'image/svg+xml',
  )
  await page.goto(`${w.visitor.root}${site.open}/a.svg`)
  t.is(await page.evaluate('document.documentElement.id'), 'null')
})
