import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Colours are judged in their final state, not during a transition between the schemes; a transition that ends can start another in an
 * element that inherits the colour.
 */
const settle = `(async () => {
  const frame = () => new Promise(requestAnimationFrame)
  const running = () => document.getAnimations().filter((one) => one instanceof CSSTransition && one.playState !== 'finished')
  await frame()
  for (let all = running(); all.length > 0; all = running()) {
    for (const one of all) one.finish()
    await frame()
  }
})()`

const run = (options: object) => `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`

/**
 * The findings of axe for a page, each as its rule and element; only of its colours where the rest was checked before. It runs past the
 * page's policy, which allows no script.
 */
export async function findingsOf(page: Page, part: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Once for each document: loading it takes longer than the checks of most pages.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axe.source)
  await page.evaluate(settle)
  return page.evaluate(run(part === 'all' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] }))
}

/** How far a page extends beyond its window to the right, in CSS pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)')
