import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { copyJson, hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/** Names of headers and fields under which others hand out what lets somebody in. */
const secretNames = /^(proxy-)?authorization$|cookie|token|secret|password|api[-_]?key/i

/** What stands in the place of such a value. */
export const redactedText = '[redacted]'

/**
 * What a step gave, as it is kept for those who look at its run: without texts, lists and objects whose name says that they are a secret,
 * however deep. Numbers stay, since those under such names count something: `total_tokens`.
 */
export const redactNamedSecrets = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(value, { item: (name, item) => [name, isSecret(name, item) ? redactedText : item] }, budget)

const isSecret = (name: string, item: unknown): boolean =>
  secretNames.test(name) && (typeof item === 'string' ? item !== '' : hasParts(item))
