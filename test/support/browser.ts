import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { shareInThread } from '#test/support/share-in-thread.ts'

/** The folder in which the browser is unpacked once, for all test files and runs. */
const folder = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'kontor', 'chromium-147.0.0')
const program = join(folder, 'chromium')

/** Own arguments: those of the package disable the separation of origins, and every test of it would pass. */
const args = ['--headless=shell', '--no-sandbox', '--disable-gpu', '--font-render-hinting=none']
const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') }

/** Whether the Chromium of npm runs on this machine; known before tests are declared, which cannot wait. */
export function canBrowse(): boolean {
  if (!existsSync(program)) spawnSync(process.execPath, [join(import.meta.dirname, 'unpack-browser.mjs'), folder])
  return spawnSync(program, [...args, '--version'], { env }).status === 0
}

/** Starts the Chromium of npm. It must be closed. */
export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: program, args, env })

/** A browser for the tests of a file. */
export interface Browsing {
  /** Declares a test that needs the browser; the test is skipped when none runs. */
  readonly inBrowser: TestFn | TestFn['skip']
  /** Opens a page in its own profile, which ends with the test. */
  readonly open: (t: { teardown: (end: () => Promise<void>) => void }, options?: BrowserContextOptions) => Promise<Page>
}

/** A browser that its first test starts. It ends after the last test of the thread. */
export function browse(test: TestFn): Browsing {
  const launched = shareInThread(
    test,
    async () => {
      const browser = await launchBrowser()
      return { value: browser, close: () => browser.close() }
    },
    'browser',
  )
  return {
    inBrowser: canBrowse() ? test : test.skip,
    open: async (t, options) => {
      const context = await (await launched()).newContext({ viewport: { width: 1_000, height: 800 }, ...options })
      t.teardown(() => context.close())
      return context.newPage()
    },
  }
}
