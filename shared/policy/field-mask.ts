import type { PolicyRule } from '#shared/policy/policy.ts'
import { rememberByObject } from '#shared/policy/remember.ts'

/** What an allow rule reveals of the records that it matches (document 1, Policy rule, `fields`). */
export interface FieldMask {
  /** Fields that no rule reveals where this one matches. */
  readonly denied: ReadonlySet<string>
  /** The only fields that this rule reveals; null for all. */
  readonly allowed: ReadonlySet<string> | null
  /** The same text for masks that say the same. */
  readonly key: string
}

/** The mask of a rule; an empty whitelist is none. */
export const maskOf = rememberByObject(({ fields }: PolicyRule): FieldMask => {
  const denied = [...new Set(fields?.deny)].sort()
  const allowed = fields?.allow?.length ? [...new Set(fields.allow)].sort() : null
  return { denied: new Set(denied), allowed: allowed && new Set(allowed), key: JSON.stringify([denied, allowed]) }
})

/** Whether a mask shows the field, other rules aside. */
export const reveals = ({ denied, allowed }: FieldMask, field: string): boolean =>
  !denied.has(field) && (allowed === null || allowed.has(field))

/** Whether several matching masks show the field: one of them reveals it and none denies it (decisions, Policy details). */
export const revealTogether = (masks: readonly FieldMask[], field: string): boolean =>
  masks.some((mask) => reveals(mask, field)) && !masks.some((mask) => mask.denied.has(field))
