import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { jsonNumberText, parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { fieldsShown, mayDo, type NaiveCaller, type NaiveRecord } from '#test/core/policy/naive.ts'
import { reads, typeKey, types } from '#test/core/policy/random.ts'
import type { Answer } from '#test/support/send-request.ts'

/** A record as its owner reads it, with every digit. */
export interface Seen {
  readonly id: string
  readonly object_type: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly values: Readonly<Record<string, unknown>>
}

/** The data of a response, with numbers that binary floats cannot hold kept as text. */
export const exact = ({ text }: Answer): Answer['data'] => (parseStoredJson(text) as { data?: unknown }).data

/** A record in the form that the naive implementation tests: numbers as their digits. */
export const naiveOf = ({ id, object_type, created_by, created_at, values }: Omit<Seen, 'updated_at'>): NaiveRecord => ({
  id,
  object_type,
  created_by,
  created_at,
  values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, plain(value)])) as NaiveRecord['values'],
})

function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value)) return jsonNumberText(value) ?? value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, jsonNumberText(part) ?? part]))
}

/** What a caller with these rules may see of records by an action, by the contract (docs/contract/access.md#masks). */
export interface ExpectedAccess {
  readonly allows: (record: Seen) => boolean
  readonly shows: (record: Seen) => ReadonlySet<string>
  /** Whether every matching rule shows the field, so that it can be searched. */
  readonly isOpen: (key: string) => boolean
  /** Whether a matching rule denies the field. */
  readonly isDenied: (key: string) => boolean
  /** Whether a rule without a condition allows the action, and no rule could refuse it. */
  readonly isForAll: boolean
}

export function expectedAccess(rules: readonly PolicyRule[], action: string, caller: NaiveCaller): ExpectedAccess {
  const named = rules.filter(({ actions, resources }) => {
    const isOnType = !resources?.length || resources === '*' || ['*', typeKey].some((key) => resources.includes(key))
    return isOnType && actions.some((name) => [action, 'records:*'].includes(name))
  })
  const counting = named.filter(({ effect }) => effect === 'allow')
  const reveals = ({ fields }: PolicyRule, key: string) =>
    !fields?.deny?.includes(key) && (!fields?.allow?.length || fields.allow.includes(key))
  const isOpen = (key: string): boolean => counting.every((rule) => reveals(rule, key)) && (reads[key] ?? []).every(isOpen)
  const isDenied = (key: string): boolean => counting.some(({ fields }) => fields?.deny?.includes(key)) || (reads[key] ?? []).some(isDenied)
  return {
    allows: (record) => mayDo(rules, action, caller, types, naiveOf(record)),
    shows: (record) => new Set(fieldsShown(rules, action, caller, types, naiveOf(record), reads)),
    isOpen,
    isDenied,
    isForAll: counting.length === named.length && counting.some(({ condition }) => Object.keys(condition ?? {}).length === 0),
  }
}

/** A record without the fields that are not shown. */
export const masked = (record: Seen, shown: ReadonlySet<string>): Seen => ({
  ...record,
  values: Object.fromEntries(Object.entries(record.values).filter(([key]) => shown.has(key))),
})
