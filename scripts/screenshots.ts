import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { canBrowse, launchBrowser } from '#test/support/browser.ts'
import type { World } from '#test/support/world.ts'
import { startTemporary } from './postgres/temporary.ts'

// `npm run screenshots`: the pictures of the README, from a temporary Kontor whose clock stands still, by the browser of the tests.

const folder = join(import.meta.dirname, '..', 'docs', 'pictures')
const size = { width: 1_000, height: 856 }

/** The first day of a month, whose days are then all shown as free. */
const now = new Date('2026-12-01T09:00:00Z')

/** Opens the page that each picture shows, by the name of its file. */
const screenshots: Readonly<Record<string, (page: Page, w: World) => Promise<void>>> = {
  async booking(page, w) {
    await page.goto(`${w.visitor.root}/book/${w.org.id}/${await makeBookingPage(w)}?day=2026-12-03`)
    await page.locator('.times').waitFor()
  },
  async reference(page, w) {
    await page.goto(`${w.visitor.root}/docs/reference`)
    await page.locator('#operations-tag-Records').click()
    const operation = page.locator('#operations-Records-getRecordsByTypeKey')
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.parameters').first().waitFor()
    await operation.locator('.opblock-summary-control').blur()
    await page.locator('#operations-tag-Records').evaluate((tag) => tag.scrollIntoView())
  },
}

if (canBrowse()) await takeScreenshots()
else {
  console.error('The browser of the tests does not run on this machine.')
  process.exitCode = 1
}

async function takeScreenshots(): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const postgres = await startTemporary((line) => console.error(line))
  cleanup.defer(postgres.stop)
  // The module reads the address when it is loaded.
  process.env.TEST_DATABASE_URL = postgres.url
  const { world } = await import('#test/support/world.ts')
  const w = await world({}, [], () => now)
  cleanup.defer(w.close)
  const browser = await launchBrowser()
  cleanup.defer(() => browser.close())
  await mkdir(folder, { recursive: true })
  for (const [name, show] of Object.entries(screenshots)) {
    const page = await browser.newPage({ viewport: size, colorScheme: 'light', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' })
    await show(page, w)
    await page.screenshot({ path: join(folder, `${name}.png`) })
    await page.close()
    console.log(`docs/pictures/${name}.png`)
  }
}

/** Makes a calendar with a booking page and returns its key. */
async function makeBookingPage(w: World): Promise<string> {
  const { owner, path } = w.org
  const key = 'advice'
  const booking = {
    enabled: true,
    title: 'A first talk',
    description: 'We get to know each other.\nBring your questions.',
    durations: [30, 60],
    location: '12 Harbour Street, second floor',
  }
  await owner.patch(path, { name: 'Harbour Studio', color: '#0b7a55' })
  await owner.post(`${path}/calendar/calendars`, { key, kind: 'org', name: 'Advice', timezone: 'Europe/Berlin', settings: { booking } })
  return key
}
