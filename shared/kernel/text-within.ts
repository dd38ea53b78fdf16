import type { ComputeBudget } from '#shared/kernel/compute-budget.ts'

/** Texts of up to so many characters are looked for at once. Measured: 64 characters in 1 MB take 8 ms where the text is hostile. */
const shortPart = 64

/** Characters of the two that are compared at most in one go, some 5 ms: 10,000 hostile characters in 1 MB take 1.3 s together. */
const comparedAtOnce = 32_000_000

/**
 * Whether a text holds another, like `String.includes`, whose time for hostile texts is the product of their lengths. Gives the thread back
 * between its pieces; their time counts as steps, since what a search costs does not show in the lengths.
 */
export async function isWithin(text: string, part: string, budget: ComputeBudget): Promise<boolean> {
  budget.take(text.length >> 11)
  if (part.length <= shortPart) return text.includes(part)
  const width = Math.ceil(comparedAtOnce / part.length)
  for (let from = 0; from + part.length <= text.length; from += width) {
    const began = performance.now()
    if (text.slice(from, from + width + part.length - 1).includes(part)) return true
    budget.take(Math.floor((performance.now() - began) * 1_000))
    await budget.pause()
  }
  return false
}
