import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestFn } from 'ava'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { shareInThread } from '#test/support/share-in-thread.ts'

/** Where the browser is unpacked once, for all files of tests and all runs. */
const folder = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'kontor', 'chromium-147.0.0')
const program = join(folder, 'chromium')

/** Arguments of our own: those that its package names switch off what keeps origins apart, and every test of that would pass. */
const args = ['--headless=shell', '--no-sandbox', '--disable-gpu', '--font-render-hinting=none']
const env = { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf') }

/** Whether the Chromium that npm brings runs on this machine; asked before any test is declared, which waits for nothing. */
export function canBrowse(): boolean {
  if (!existsSync(program)) spawnSync(process.execPath, [join(import.meta.dirname, 'unpack-browser.mjs'), folder])
  return spawnSync(program, [...args, '--version'], { env }).status === 0
}

/** Starts the Chromium that npm brings. It must be closed. */
export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: program, args, env })

/** A browser for the tests of a file. */
export interface Browsing {
  /** Declares a test that needs the browser; it is skipped, by its name, where none runs. */
  readonly inBrowser: TestFn | TestFn['skip']
  /** Opens a page in a profile of its own, which ends with the test. */
  readonly open: (t: { teardown: (end: () => Promise<void>) => void }, options?: BrowserContextOptions) => Promise<Page>
}

/** A browser that the first test that needs it starts. It ends after the last test of the thread. */
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
