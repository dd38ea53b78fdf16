import test from 'ava'
import type { Page } from 'playwright-core'
import { bookPage } from '#test/api/pages/browser/shown.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { browse } from '#test/support/browser.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })
const { inBrowser, open } = browse(test)

/** The addresses that a page requests, with how each is loaded, in order. */
function asked(page: Page): string[] {
  const all: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/book/')) all.push(`${request.resourceType()} ${search}`)
  })
  return all
}

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent.trim()')

inBrowser('booking: with scripts no step of a booking loads a page, and no page is requested twice', async (t) => {
  const w = await start()
  const page = await open(t, { timezoneId: 'UTC', extraHTTPHeaders: fromAnywhere() })
  const requests = asked(page)
  await page.goto(w.visitor.root + (await bookPage(w)))
  await page.locator('.month td a').last().click()
  await page.locator('.month td a[aria-current]').waitFor()
  t.regex(await focused(page), /^\w+, \d+ \w+ \d{4}$/)
  const day = page.url()
  await page.locator('.times li a').first().click()
  await page.getByLabel('Your name').waitFor()
  t.is(await focused(page), 'Your details')
  await page.goBack()
  await page.locator('.month').waitFor()
  t.is(page.url(), day)
  await page.goForward()
  await page.getByLabel('Your name').fill('Ann')
  await page.getByLabel('Your email').fill('ann@example.com')
  t.deepEqual(
    requests.map((one) => one.split(' ')[0]),
    ['document', 'fetch', 'fetch'],
  )
  t.is(new Set(requests).size, 3)
  await page.getByRole('button', { name: 'Book' }).click()
  await page.getByText('Your booking is confirmed').waitFor()
})

inBrowser('booking: the browser’s zone is the default, and another choice is kept', async (t) => {
  const w = await start()
  const page = await open(t, { timezoneId: 'Asia/Tokyo', extraHTTPHeaders: fromAnywhere() })
  await page.goto(w.visitor.root + (await bookPage(w)))
  await page.locator('.zone strong', { hasText: 'Asia/Tokyo' }).waitFor()
  await page.locator('.zone summary').click()
  await page.getByLabel('Time zone').selectOption('UTC')
  await page.getByRole('button', { name: 'Show these times' }).click()
  await page.locator('.zone strong', { hasText: 'UTC' }).waitFor()
  await page.locator('.month td a').last().click()
  await page.locator('.month td a[aria-current]').waitFor()
  t.is(await page.locator('.zone strong').innerText(), 'UTC')
  t.is(await page.locator('.times li a').first().innerText(), '09:00')
})

for (const javaScriptEnabled of [true, false]) {
  inBrowser(`booking: a time is booked by keyboard alone on a phone, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async (t) => {
    const w = await start()
    const viewport = { width: 390, height: 844 }
    const page = await open(t, { javaScriptEnabled, viewport, timezoneId: 'UTC', extraHTTPHeaders: fromAnywhere() })
    await page.goto(w.visitor.root + (await bookPage(w)))
    /** Presses Tab until the element matches. */
    const reach = async (selector: string) => {
      for (let count = 0; count < 60; count++) {
        await page.keyboard.press('Tab')
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
      }
      t.fail(`${selector} cannot be reached`)
    }
    const heights = [await page.evaluate('document.documentElement.scrollHeight')]
    await reach('.month td a')
    await page.keyboard.press('Enter')
    await page.locator('.times li a').first().waitFor()
    heights.push(await page.evaluate('document.documentElement.scrollHeight'))
    await reach('.times li a')
    await page.keyboard.press('Enter')
    await page.getByLabel('Your name').waitFor()
    heights.push(await page.evaluate('document.documentElement.scrollHeight'))
    await reach('#name')
    await page.keyboard.type('Ann')
    await reach('#email')
    await page.keyboard.type('ann@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('Your booking is confirmed').waitFor()
    t.true(
      heights.every((height) => Number(height) < 1_200),
      heights.join(),
    )
  })
}

inBrowser('booking: arrow keys move by days and weeks', async (t) => {
  const w = await start()
  const page = await open(t, { timezoneId: 'UTC', extraHTTPHeaders: fromAnywhere() })
  const path = await bookPage(w)
  await page.goto(w.visitor.root + path)
  await page.locator('#later').click()
  await page.locator('#earlier').waitFor()
  const days = page.locator('.month td a')
  const numbers = await days.allInnerTexts()
  await days.first().focus()
  await page.keyboard.press('ArrowRight')
  t.is(await focused(page), numbers[1] ?? '')
  await page.keyboard.press('ArrowDown')
  t.is(await focused(page), String(Number(numbers[1]) + 7))
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowLeft')
  t.is(await focused(page), numbers[0] ?? '')
})
