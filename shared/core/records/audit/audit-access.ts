import type { Policy, RecordAccess } from '#shared/core/policy/evaluate.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { readRulesOf, seesEarlierFields } from '#shared/core/records/earlier-fields.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * A caller's access to the audit entries of a type. It follows from read access to the type's records in their current state. No condition
 * can be tested on a deleted record, and no mask on a value whose field is gone, so those are shown only to callers whose rules could never
 * have hidden them.
 */
export interface TypeAuditAccess {
  readonly type: RecordType
  readonly access: RecordAccess
  readonly showsDeletedRecords: boolean
  readonly showsEarlierFields: boolean
}

/** The caller's access to the audit entries of each of these types; types of which it may see no entry are left out. */
export function findAuditAccess({ actor }: Scope, types: readonly RecordType[]): TypeAuditAccess[] {
  const { policy } = actor
  return types
    .filter(({ key }) => permits({ actor }, 'audit:read', key))
    .map((type) => ({
      type,
      access: policy.recordAccess('records:read', type.key, type.fields),
      showsDeletedRecords: canReadAllRecords(policy, type.key),
      showsEarlierFields: seesEarlierFields({ actor }, type.key),
    }))
    .filter(({ access }) => access.verdict !== 'none')
}

/** Whether the caller may see every entry, those of deleted types included, as the owner may. */
export function canSeeWholeAudit({ actor }: Scope): boolean {
  const { policy } = actor
  const keys = ['*', ...policy.ruleIndexes.flatMap((index) => [...index.keys('records:read'), ...index.keys('audit:read')])]
  return keys.every((key) => permits({ actor }, 'audit:read', key) && canReadAllRecords(policy, key) && seesEarlierFields({ actor }, key))
}

/** Whether an unconditional rule allows the caller to read the type's records and no rule denies any of them. */
const canReadAllRecords = (policy: Policy, key: string): boolean =>
  readRulesOf(policy, key).every((rules) => rules.every(({ effect }) => effect === 'allow') && rules.some(isUnconditional))

const isUnconditional = ({ condition }: PolicyRule): boolean => Object.keys(condition ?? {}).length === 0
