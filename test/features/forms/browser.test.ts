import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import type { Page } from 'playwright-core'
import { everyField } from '#test/api/pages/browser/shown.ts'
import { admitVisitors, leads, makeForm, makeLeads, submissionsOf } from '#test/features/forms/making.ts'
import { readSubmittedValues } from '#test/features/forms/rows.ts'
import { admitVisitors as admitReaders, makeSite, putFile } from '#test/features/sites/making.ts'
import { browse } from '#test/support/browser.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
/** Another website, on this machine too: a browser lets none from farther away reach in. */
const elsewhere = 'http://other.localhost/'
const { inBrowser, open } = browse(test)

/** The name of the control that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(`document.activeElement.getAttribute('name') ?? document.activeElement.tagName.toLowerCase()`)

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts'

  inBrowser(`browser: a form is filled in and sent by keyboard, ${how}`, async (t) => {
    const w = await start()
    const path = await everyField(w)
    const page = await open(t, { javaScriptEnabled })
    await page.goto(w.visitor.root + path)
    const order: string[] = []
    for (let count = 0; count < 30; count++) {
      await page.keyboard.press('Tab')
      const name = await focused(page)
      if (name === 'name') await page.keyboard.type('Ann')
      if (name === 'email') await page.keyboard.type('ann@example.com')
      if (name === 'size') await page.keyboard.type('La')
      if (name === 'agreed') await page.keyboard.press('Space')
      if (order.at(-1) !== name) order.push(name)
      if (name === 'button') break
    }
    t.deepEqual(order, ['a', 'name', 'email', 'price', 'day', 'time', 'size', 'extras', 'page', 'note', 'agreed', 'button'])
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    t.regex(await page.locator('[role=status]').innerText(), /Thank you\.\nWe will write to you\./)
    t.like(await readSubmittedValues(w.db, w.org.id), { name: 'Ann', email: 'ann@example.com', size: 'Large', agreed: true })
  })

  inBrowser(`browser: an error is shown beside its field, which has the focus and describes it, ${how}`, async (t) => {
    const w = await start()
    await admitVisitors(w)
    const fields = [
      { key: 'name', label: 'Name', type: 'string' },
      { key: 'price', label: 'Price', type: 'number' },
    ]
    const made = await makeForm(w, { fields })
    const page = await open(t, { javaScriptEnabled })
    await page.goto(w.visitor.root + made.hosted)
    await page.getByLabel('Name').fill('Ann')
    await page.getByLabel('Price').fill('much')
    await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Send' }).click()])
    t.is(await focused(page), 'price')
    t.regex(await page.title(), /^Error: Contact/)
    const price = page.getByLabel('Price')
    t.is(await price.getAttribute('aria-invalid'), 'true')
    t.regex(await page.locator(`#${await price.getAttribute('aria-describedby')}`).innerText(), /^Must be a number/)
    t.regex(await page.getByRole('alert').innerText(), /Price/)
    t.is(await page.getByLabel('Name').inputValue(), 'Ann')
    await price.fill('12.50')
    await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Send' }).click()])
    t.deepEqual(
      (await submissionsOf(w, made)).map(({ values }) => values),
      [{ name: 'Ann', price: 12.5 }],
    )
  })
}

inBrowser('browser: a form that was sent twice, by going back or reloading, is stored once', async (t) => {
  const w = await start()
  await admitVisitors(w)
  await makeLeads(w)
  const made = await makeForm(w, leads)
  const page = await open(t)
  await page.goto(w.visitor.root + made.hosted)
  const send = async () => {
    await page.getByLabel('Your address').fill('ann@example.com')
    await Promise.all([page.waitForNavigation(), page.getByRole('button', { name: 'Send' }).click()])
  }
  await send()
  await page.reload()
  t.regex(await page.locator('[role=status]').innerText(), /It has been sent/)
  t.is((await submissionsOf(w, made)).length, 1)
})

inBrowser('browser: a form redirects to another website', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w, { settings: { redirect: 'https://elsewhere.example/done?a=1&b=2' } })
  const page = await open(t)
  await page.route('https://elsewhere.example/**', (route) => route.fulfill({ body: 'there' }))
  await page.goto(w.visitor.root + made.hosted)
  await page.getByLabel('Your address').fill('ann@example.com')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL('https://elsewhere.example/done?a=1&b=2')
  t.pass()
})

inBrowser('browser: a form in a frame of another website can be filled in there, and other pages cannot be framed', async (t) => {
  const w = await start()
  await admitVisitors(w)
  const made = await makeForm(w)
  // A server of its own: a browser asks which network a frame's page came from.
  const embedder = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html')
    answer.end(`<iframe src="${w.visitor.root}${made.hosted}"></iframe><iframe src="${w.visitor.root}/"></iframe>`)
  })
  await new Promise<void>((listening) => embedder.listen(0, listening))
  t.teardown(() => void embedder.close())
  const page = await open(t)
  await page.goto(`http://localhost:${(embedder.address() as AddressInfo).port}/`)
  const [form, startPage] = [page.frameLocator('iframe >> nth=0'), page.frameLocator('iframe >> nth=1')]
  await form.getByLabel('Your address').fill('ann@example.com')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('It has been sent').waitFor()
  t.is((await submissionsOf(w, made)).length, 1)
  t.is(await startPage.getByText('A workspace platform').count(), 0)
})

inBrowser('browser: no other website and no hosted content makes a visitor’s browser submit a form', async (t) => {
  const w = await start()
  await admitVisitors(w)
  await admitReaders(w)
  const made = await makeForm(w)
  const form = (type: string) =>
    `<form method="post" action="${w.visitor.root}${made.hosted}" enctype="${type}"><input name="email" value="a@example.com"></form>`
  const site = await makeSite(w)
  const page = await open(t)
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
    const body = `<!doctype html>${form(type)}<script>document.forms[0].submit()</script>`
    await page.route(elsewhere, (route) => route.fulfill({ contentType: 'text/html', body }))
    for (const from of [elsewhere, `${w.visitor.root}${site.open}/attack`]) {
      await putFile(w, `${site.inside}/attack`, body, 'text/html')
      const answered = page.waitForResponse((response) => response.request().method() === 'POST')
      await page.goto(from).catch(() => undefined)
      t.is((await answered).status(), 403, `${type} from ${from}`)
    }
    await page.unroute(elsewhere)
  }
  await page.goto(`${w.visitor.root}${site.open}/attack`).catch(() => undefined)
  const sent = page.evaluate(
    ([url]) =>
      fetch(url ?? '', { method: 'POST', body: '{"values":{"email":"a@example.com"}}', headers: { 'content-type': 'text/plain' } }).then(
        ({ status }) => status,
        () => 'refused',
      ),
    [w.visitor.root + made.open],
  )
  t.regex(String(await sent), /^(?:403|refused)$/)
  t.deepEqual(await submissionsOf(w, made), [])
})
