import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Colours are judged as they are in the end, not in the middle of a transition from one scheme to the other. */
const settle = `for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish()`

const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`

/** What axe finds wrong with a page, each as its rule and what it is about. It runs beside the page's policy, which lets no script in. */
export async function findingsOf(page: Page): Promise<string[]> {
  // Once for each document: reading it takes longer than most pages' findings.
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axe.source)
  await page.evaluate(settle)
  return page.evaluate(run)
}

/** How far a page reaches beyond its window to the right, in CSS pixels. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)')
