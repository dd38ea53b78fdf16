import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { copyJson, hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/** Names of headers and fields that hold credentials. */
const secretNames = /^(proxy-)?authorization$|cookie|token|secret|password|api[-_]?key/i

/** Replacement for a secret value. */
export const redactedText = '[redacted]'

/**
 * Redacts a step's output for viewers of its run: texts, lists and objects under secret names, at any depth. Numbers stay, since under such
 * names they are counts: `total_tokens`.
 */
export const redactNamedSecrets = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(value, { item: (name, item) => [name, isSecret(name, item) ? redactedText : item] }, budget)

const isSecret = (name: string, item: unknown): boolean =>
  secretNames.test(name) && (typeof item === 'string' ? item !== '' : hasParts(item))
