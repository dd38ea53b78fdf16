import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { copyJson } from '#shared/platform/kernel/values/json-walk.ts'

/** Copies an outside value with texts that PostgreSQL can store: no NUL character, no lone surrogate. */
export const toStorableJson = (value: unknown, budget: ComputeBudget): Promise<unknown> =>
  copyJson(
    value,
    { leaf: (part) => (typeof part === 'string' ? cleanText(part) : part), item: (name, item) => [cleanText(name), item] },
    budget,
  )

const cleanText = (text: string): string => text.toWellFormed().replaceAll('\0', '�')
