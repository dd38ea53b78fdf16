import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Colours are judged as they are in the end, not in the middle of a transition from one scheme to the other; one that ends can begin another
 * further in, whose colour is inherited.
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
 * What axe finds wrong with a page, each as its rule and what it is about; with its colours alone where the rest has been looked at. It runs
 * beside the page's policy, which lets no script in.
 */
export async function findingsOf(page: Page, part: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Once for each document: reading it takes longer than most pages' findings.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axe.source)
  await page.evaluate(settle)
  return page.evaluate(run(part === 'all' ? {} : { runOnly: ['color-contrast', 'link-in-text-block'] }))
}

/** How far a page reaches beyond its window to the right, in CSS pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)')
