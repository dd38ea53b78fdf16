import { join } from 'node:path'
import test from 'ava'
import type { Page } from 'playwright-core'
import { bookersPage, bookPage, guestsPage, originOf, type ShownPage, shownPages } from '#test/api/pages/browser/shown.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { findingsOf, overflowOf } from '#test/support/axe.ts'
import { browse } from '#test/support/browser.ts'
import { listening } from '#test/support/listening.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

// A payment calls this server itself.
const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()) }))
const { inBrowser, open } = browse(test)

/** The parts that are checked in each scheme: the schemes differ only in colours. */
const schemes = [
  ['light', 'all'],
  ['dark', 'colours'],
] as const

/** Folder for screenshots of all pages. */
const pictures = process.env.TEST_SCREENSHOTS

/** Fills in a form, past the checks of the browser. */
const fill = `(sent) => {
  const form = [...document.forms].at(-1)
  for (const [name, value] of Object.entries(sent)) {
    const control = form.elements.namedItem(name)
    if (control.type === 'checkbox') control.checked = true
    else control.value = value
  }
  form.noValidate = true
}`

/** Opens a page, and submits its form if the page is the response to that. */
async function show(page: Page, w: World, shown: ShownPage): Promise<void> {
  await page.route(`${w.visitor.root}/**`, (route) => route.continue({ headers: { ...route.request().headers(), ...originOf(shown) } }))
  await page.goto(w.visitor.root + (await shown.address(w)))
  if (!shown.sent) return
  await page.evaluate(`(${fill})(${JSON.stringify(shown.sent)})`)
  const button = page.locator(shown.button ? `button[value="${shown.button}"]` : 'form button').last()
  await Promise.all([page.waitForNavigation(), button.click()])
}

inBrowser('pages: the browser separates origins, which the other tests rely on', async (t) => {
  const w = await start()
  const page = await open(t)
  // A page without a policy, at another name of this machine.
  await page.goto(`${w.visitor.root.replace('127.0.0.1', 'localhost')}/healthz`)
  const read = (path: string) =>
    page.evaluate(
      (url) =>
        fetch(url).then(
          (answer) => answer.status,
          (error: Error) => error.name,
        ),
      w.visitor.root + path,
    )
  t.is(await read('/healthz'), 'TypeError')
  t.is(await read('/openapi.json'), 200)
})

for (const shown of shownPages) {
  // The reference has tables that are nothing for a phone; a test of its own, below, opens them and looks for what keeps people out.
  const isReference = shown.name === 'the reference'

  inBrowser(`pages: light or dark, at 320 pixels and with text of twice the size, the page is accessible: ${shown.name}`, async (t) => {
    const w = await start()
    const page = await open(t, { colorScheme: 'light' })
    const errors: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text())
    })
    const keep = (look: string) => pictures && page.screenshot({ path: join(pictures, `${shown.name} ${look}.png`), fullPage: true })
    await show(page, w, shown)
    if (isReference) await page.locator('.opblock-tag').first().waitFor()
    for (const [colorScheme, part] of schemes) {
      await page.emulateMedia({ colorScheme })
      if (!isReference) t.deepEqual(await findingsOf(page, part), [], colorScheme)
      await keep(colorScheme)
    }
    t.deepEqual(errors, [], 'the policy of the page permits everything that it loads')
    if (isReference) return
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 390, height: 844 })
    t.is(await overflowOf(page), 0)
    await keep('390')
    await page.setViewportSize({ width: 320, height: 640 })
    t.is(await overflowOf(page), 0)
    await keep('320')
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    await page.setViewportSize({ width: 400, height: 640 })
    t.is(await overflowOf(page), 0)
  })
}

inBrowser('pages: a visitor books and cancels, and a guest answers, without scripts', async (t) => {
  const w = await start()
  const page = await open(t, { javaScriptEnabled: false, extraHTTPHeaders: fromAnywhere() })
  const send = async (answer: string) => {
    await page.getByLabel(answer, { exact: true }).check()
    await page.getByRole('button').last().click()
  }
  await page.goto(w.visitor.root + (await bookPage(w)))
  await page.locator('.month td a').last().click()
  await page.locator('.times li a').first().click()
  await page.getByLabel('Your name').fill('Ann Meier')
  await page.getByLabel('Your email').fill('ann@example.com')
  await page.getByRole('button').last().click()
  await page.getByRole('link', { name: /cancel/i }).click()
  await send('Cancel my booking')
  t.regex(await page.locator('main').innerText(), /Your booking is cancelled/)
  await page.goto(w.visitor.root + (await guestsPage(w)))
  await send('I will come')
  t.regex(await page.locator('main').innerText(), /Your answer has been sent/)
})

inBrowser('pages: a browser that opens a booking and an invitation with scripts and waits sends no answer', async (t) => {
  const w = await start()
  for (const address of [await bookersPage(w), await guestsPage(w)]) {
    const seen = () => w.visitor.get(`/cal${address.replace(/^\/rsvp\/([^/]+)\//, '/$1/rsvp/')}`, fromAnywhere())
    const before = await seen()
    t.is(before.status, 200)
    const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    await page.goto(w.visitor.root + address)
    await page.reload({ waitUntil: 'networkidle' })
    await page.goto(`${w.visitor.root}${address}?status=declined`, { waitUntil: 'networkidle' })
    t.deepEqual([...new Set(sent)], ['GET'])
    t.deepEqual((await seen()).data, before.data)
  }
})

inBrowser('pages: a reader of the guide searches by keyboard, without scripts, and opens a section', async (t) => {
  const w = await start()
  const page = await open(t, { javaScriptEnabled: false })
  await page.goto(`${w.visitor.root}/docs/limits`)
  const focused = page.locator(':focus')
  await page.keyboard.press('Tab')
  t.is(await focused.innerText(), 'Skip to the text')
  for (let count = 0; count < 2; count++) await page.keyboard.press('Tab')
  t.is(await focused.getAttribute('name'), 'q')
  await page.keyboard.type('claim lease')
  await Promise.all([page.waitForURL(/search\?q=claim\+lease$/), page.keyboard.press('Enter')])
  await page.getByRole('link', { name: 'Claims', exact: true }).first().focus()
  await Promise.all([page.waitForURL(/\/docs\/queues#claims$/), page.keyboard.press('Enter')])
  t.true(await page.locator('#claims').isVisible())
  await page.setViewportSize({ width: 390, height: 844 })
  const contents = page.getByText('On this page').first()
  await contents.click()
  await page.getByRole('link', { name: 'Verification', exact: true }).first().click()
  await page.waitForURL(/#verification$/)
  t.pass()
})

/** One of each method. */
const operations = [
  'Records-getRecordsByTypeKey',
  'Records-postRecordsByTypeKey',
  'Records-putRecordsByTypeKeyByRecordIdValues',
  'Records-deleteRecordsByTypeKeyByRecordId',
  'Workspaces-patchOrgsByOrgId',
]

inBrowser('pages: the reference page is accessible in both schemes', async (t) => {
  const w = await start()
  const page = await open(t, { colorScheme: 'light' })
  await page.goto(`${w.visitor.root}/docs/reference`)
  await page.locator('#operations-tag-Records').click()
  await page.locator('#operations-tag-Workspaces').click()
  for (const id of operations) {
    await page.locator(`#operations-${id} .opblock-summary-control`).click()
    await page.locator(`#operations-${id} .responses-table`).waitFor()
  }
  await page.locator('.btn.authorize').first().click()
  await page.locator('.modal-ux-content input').first().waitFor()
  for (const [colorScheme, part] of schemes) {
    await page.emulateMedia({ colorScheme })
    t.deepEqual(await findingsOf(page, part), [], colorScheme)
  }
})
