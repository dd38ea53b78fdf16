import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { copyJson } from '#shared/platform/kernel/values/json-walk.ts'

/** A value that came from elsewhere with texts that PostgreSQL can hold: no NUL character and no half of a pair. */
export const toStorableJson = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(
    value,
    { leaf: (part) => (typeof part === 'string' ? cleanText(part) : part), item: (name, item) => [cleanText(name), item] },
    budget,
  )

const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '�')
