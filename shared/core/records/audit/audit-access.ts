import type { Policy, RecordAccess } from '#shared/core/policy/evaluate.ts'
import { fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * A caller's access to the audit entries of a type. It follows from read access to the type's records in their current state. No condition
 * can be tested on a deleted record or field, so those are shown only to callers whose rules could never have hidden them.
 */
export interface TypeAuditAccess {
  readonly type: RecordType
  readonly access: RecordAccess
  readonly showsDeletedRecords: boolean
  readonly showsDeletedFields: boolean
}

/** The caller's access to the audit entries of each of these types; types of which it may see no entry are left out. */
export function findAuditAccess({ actor }: Scope, types: readonly RecordType[]): TypeAuditAccess[] {
  const { policy } = actor
  return types
    .filter(({ key }) => permits({ actor }, 'audit:read', key))
    .map((type) => {
      const showsDeletedRecords = canReadAllRecords(policy, type.key)
      return {
        type,
        access: policy.recordAccess('records:read', type.key, type.fields),
        showsDeletedRecords,
        showsDeletedFields: showsDeletedRecords && canSeeAllFields(policy, type.key),
      }
    })
    .filter(({ access }) => access.verdict !== 'none')
}

/** Whether the caller may see every entry, those of deleted types included, as the owner may. */
export function canSeeWholeAudit({ actor }: Scope): boolean {
  const { policy } = actor
  const keys = ['*', ...policy.ruleIndexes.flatMap((index) => [...index.keys('records:read'), ...index.keys('audit:read')])]
  return keys.every((key) => permits({ actor }, 'audit:read', key) && canReadAllRecords(policy, key) && canSeeAllFields(policy, key))
}

/** Whether an unconditional rule allows the caller to read the type's records and no rule denies any of them. */
const canReadAllRecords = (policy: Policy, key: string): boolean =>
  readRulesOf(policy, key).every((rules) => rules.every(({ effect }) => effect === 'allow') && rules.some(isUnconditional))

/** Whether no rule hides any field of the type's records, present or deleted. */
const canSeeAllFields = (policy: Policy, key: string): boolean => readRulesOf(policy, key).every((rules) => rules.every(hidesNothing))

/** The rules on reading a type's records, one list per rule index; each list must allow the read by itself. Empty for the owner. */
const readRulesOf = ({ ruleIndexes }: Policy, key: string): (readonly PolicyRule[])[] =>
  ruleIndexes.map((index) => index.matching('records:read', key))

const isUnconditional = ({ condition }: PolicyRule): boolean => Object.keys(condition ?? {}).length === 0

function hidesNothing(rule: PolicyRule): boolean {
  const { denied, allowed } = fieldMaskOf(rule)
  return denied.size === 0 && allowed === null
}
