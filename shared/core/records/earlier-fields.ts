import type { Policy } from '#shared/core/policy/evaluate.ts'
import { fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/** When stored values of a record were written. */
export interface Writing {
  /** The revision of the type that the writer knew; null for what earlier releases wrote. */
  readonly revision: number | null
  /** RFC 3339, in the form of instants from the database. */
  readonly at: string
}

/**
 * Whether a value that was written under this key belongs to the type's present field of that key: not to a field that is gone, to an
 * earlier field of the key, or to an earlier formula that read other fields. Without a revision it belongs to the field if that is older
 * than the value (docs/contract/access.md#masks-over-time).
 */
export function isOfPresentField({ fieldByKey }: Pick<RecordType, 'fieldByKey'>, key: string, { revision, at }: Writing): boolean {
  const field = fieldByKey.get(key)
  if (!field) return false
  return revision === null ? field.revision === 0 && field.createdAt <= at : field.revision <= revision
}

/**
 * Whether the caller may see values that belong to no present field of the type: no rule may hide any field of the type's records, since
 * such a value cannot be tested by the masks of present fields.
 */
export const seesEarlierFields = ({ actor }: Pick<Scope, 'actor'>, typeKey: string): boolean =>
  readRulesOf(actor.policy, typeKey).every((rules) => rules.every(hidesNothing))

/** The rules on reading a type's records, one list per rule index; each list must allow the read by itself. Empty for the owner. */
export const readRulesOf = ({ ruleIndexes }: Policy, key: string): (readonly PolicyRule[])[] =>
  ruleIndexes.map((index) => index.matching('records:read', key))

function hidesNothing(rule: PolicyRule): boolean {
  const { denied, allowed } = fieldMaskOf(rule)
  return denied.size === 0 && allowed === null
}
