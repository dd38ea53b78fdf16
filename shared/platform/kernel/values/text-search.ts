import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'

/** Maximum length of a part that is searched in one pass. Measured: 64 characters in 1 MB of hostile text take 8 ms. */
const maxShortPartLength = 64

/** Maximum product of both lengths per pass, about 5 ms. Measured: 10,000 hostile characters in 1 MB take 1.3 s in total. */
const maxComparisons = 32_000_000

/**
 * Whether a text contains another. `String.includes` takes time proportional to the product of both lengths for hostile texts, so this
 * yields the thread between passes. Their measured time counts as steps, since lengths do not predict the cost of a search.
 */
export async function includesText(text: string, part: string, budget: ComputeBudget): Promise<boolean> {
  budget.takeSteps(text.length >> 11)
  if (part.length <= maxShortPartLength) return text.includes(part)
  const width = Math.ceil(maxComparisons / part.length)
  for (let from = 0; from + part.length <= text.length; from += width) {
    const began = performance.now()
    if (text.slice(from, from + width + part.length - 1).includes(part)) return true
    budget.takeSteps(Math.floor((performance.now() - began) * 1_000))
    await budget.pause()
  }
  return false
}
