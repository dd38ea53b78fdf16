import { randomUUID } from 'node:crypto'
import test from 'ava'
import type { Page } from 'playwright-core'
import { storeStoppedJobs } from '#shared/platform/jobs/pgboss/counts/stopped-jobs.ts'
import { endSessions } from '#test/core/operators/rows.ts'
import { addDeadLetter } from '#test/platform/jobs/operator/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { browse } from '#test/support/browser.ts'
import { listening } from '#test/support/listening.ts'
import { createOperator, visitConsole } from '#test/support/operators.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()) }))
const { inBrowser, open } = browse(test)

/** Opens a page of the console as an operator, and waits until its script has had an event. Returns the session. */
async function visit(w: World, page: Page, path: string): Promise<void> {
  const { headers } = await visitConsole(w, (await createOperator(w)).id)
  const [name = '', value = ''] = headers.cookie.split('=')
  await page.context().addCookies([{ name, value, url: `${w.visitor.root}/operator`, httpOnly: true, sameSite: 'Strict' }])
  await page.goto(w.visitor.root + path)
  await page.evaluate('window.isFirstPage = true')
}

/** Lets an export fail, as operators see it. */
async function failExport(w: World): Promise<void> {
  await addDeadLetter(w.db, randomUUID(), w.org.id)
  await storeStoppedJobs(w.api.services.database)
}

const isFirstPage = (page: Page) => page.evaluate('window.isFirstPage')

inBrowser('live: the figures of the overview change in place, and nothing is announced', async (t) => {
  const w = await start()
  const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
  await visit(w, page, '/operator/overview')
  const failed = page.locator('[data-figure="jobs.failed"]')
  const before = Number(await failed.innerText())
  await page.getByText('The counts follow what happens').waitFor()
  await failExport(w)
  await page.getByText(`${before + 1} failed`).waitFor()
  t.is(
    await page
      .locator('[data-figure="finished_by_minute"]')
      .innerText()
      .then((text) => text.split(' ').length),
    60,
  )
  t.is(await page.locator('[data-figure="mail.oldest"]').innerText(), 'none')
  t.is(await page.locator('[aria-live], [role=status], [role=alert]').count(), 0)
  t.true(await isFirstPage(page))
})

inBrowser('live: a table changes in place, and the focus and the scroll position stay', async (t) => {
  const w = await start()
  const page = await open(t, { extraHTTPHeaders: fromAnywhere(), viewport: { width: 320, height: 400 } })
  await visit(w, page, '/operator/kinds')
  const row = page.locator('tr', { has: page.getByRole('link', { name: 'records.export', exact: true }) })
  const failed = row.locator('td').nth(5)
  const before = Number(await failed.innerText())
  await row.getByRole('link', { name: 'records.export', exact: true }).focus()
  await page.locator('.scroll').evaluate('(element) => { element.scrollLeft = 40 }')
  const scroll = () => page.evaluate('[scrollY, document.querySelector(".scroll").scrollLeft]')
  const scrolled = await scroll()
  await failExport(w)
  await row
    .locator('td')
    .nth(5)
    .filter({ hasText: String(before + 1) })
    .waitFor()
  t.is(await page.evaluate('document.activeElement.textContent'), 'records.export')
  t.deepEqual(await scroll(), scrolled)
  t.true(await isFirstPage(page))
})

inBrowser('live: a page whose session has ended shows its figures, and asks no more', async (t) => {
  const w = await start()
  const page = await open(t, { extraHTTPHeaders: fromAnywhere() })
  await visit(w, page, '/operator/overview')
  await page.getByText('The counts follow what happens').waitFor()
  const refused = page.waitForResponse((response) => response.url().endsWith('/operator/stream') && response.status() === 401)
  await page.context().clearCookies()
  await endSessions(w.db)
  await refused
  await page.getByText('Load the page again for new counts').waitFor()
  t.true(await page.getByText('Longest wait').isVisible())
})
