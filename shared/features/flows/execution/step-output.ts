import { flowLimits } from '#shared/features/flows/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { copyJson, hasParts, requireJsonSize } from '#shared/platform/kernel/values/json-walk.ts'

/** Returns the output. Throws VALIDATION_ERROR when its JSON exceeds 1 MB. */
export async function checked(output: unknown, budget: ComputeBudget): Promise<unknown> {
  await requireJsonSize(output, flowLimits.outputBytes, tooLarge, budget)
  const bytes = Buffer.byteLength(JSON.stringify(output ?? null))
  if (bytes > flowLimits.outputBytes) throw problem('VALIDATION_ERROR', tooLarge)
  await budget.pause()
  return output
}

const tooLarge = 'the output has more than 1 MB'

/** Copies an outside value with texts that PostgreSQL can store: no NUL character, no lone surrogate. */
export const toStorableJson = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(
    value,
    { leaf: (part) => (typeof part === 'string' ? cleanText(part) : part), item: (name, item) => [cleanText(name), item] },
    budget,
  )

const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '�')

/** Names of headers and fields that hold credentials. */
const secretNames = /^(proxy-)?authorization$|cookie|token|secret|password|api[-_]?key/i

/** Stands in a stored output for what `redactNamedSecrets` has removed. */
export const redacted = '[redacted]'

/**
 * Redacts a step's output for viewers of its run: texts, lists and objects under secret names, at any depth. Numbers stay, since under such
 * names they are counts: `total_tokens`.
 */
export const redactNamedSecrets = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(value, { item: (name, item) => [name, isSecret(name, item) ? redacted : item] }, budget)

const isSecret = (name: string, item: unknown): boolean =>
  secretNames.test(name) && (typeof item === 'string' ? item !== '' : hasParts(item))
