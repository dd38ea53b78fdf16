import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/** The fields that an allow rule reveals of matching records (docs/contract/access.md#masks). */
export interface FieldMask {
  /** Fields that stay hidden in the records that this rule matches, whatever other rules reveal. */
  readonly denied: ReadonlySet<string>
  /** The only fields that this rule reveals; null means all. */
  readonly allowed: ReadonlySet<string> | null
  /** Equal masks have equal keys. */
  readonly key: string
}

/** The mask of a rule. An empty `fields.allow` counts as absent. */
export const fieldMaskOf = memoizeByObject(({ fields }: PolicyRule): FieldMask => {
  const denied = [...new Set(fields?.deny)].sort()
  const allowed = fields?.allow?.length ? [...new Set(fields.allow)].sort() : null
  return { denied: new Set(denied), allowed: allowed && new Set(allowed), key: JSON.stringify([denied, allowed]) }
})

/** Whether a mask alone shows the field. */
export const revealsField = ({ denied, allowed }: FieldMask, field: string): boolean =>
  !denied.has(field) && (allowed === null || allowed.has(field))

/** Whether matching masks together show the field: at least one reveals it and none denies it. */
export const revealsFieldTogether = (masks: readonly FieldMask[], field: string): boolean =>
  masks.some((mask) => revealsField(mask, field)) && !masks.some((mask) => mask.denied.has(field))
