import type { Policy, RecordAccess } from '#shared/core/policy/evaluate.ts'
import { fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * What a caller may see of a type's entries: what it may read of the type's records as they are now. Of a record or field that is gone
 * nobody can tell whether a condition would hold, so what those held is only for callers of whose rules none could have hidden it.
 */
export interface TypeAuditAccess {
  readonly type: RecordType
  readonly access: RecordAccess
  readonly showsDeletedRecords: boolean
  readonly showsDeletedFields: boolean
}

/** The types whose entries the caller may see, if only of some records. */
export function findAuditAccess({ actor }: Scope, types: readonly RecordType[]): TypeAuditAccess[] {
  const { policy } = actor
  return types
    .filter(({ key }) => permits({ actor }, 'audit:read', key))
    .map((type) => {
      const showsDeletedRecords = readsWhatever(policy, type.key)
      return {
        type,
        access: policy.recordAccess('records:read', type.key, type.fields),
        showsDeletedRecords,
        showsDeletedFields: showsDeletedRecords && showsWhatever(policy, type.key),
      }
    })
    .filter(({ access }) => access.verdict !== 'none')
}

/** Whether nothing of any record is kept from the caller, also not of types that are gone: the owner, and whoever holds rules like it. */
export function canSeeWholeAudit({ actor }: Scope): boolean {
  const { policy } = actor
  const keys = ['*', ...policy.ruleIndexes.flatMap((index) => [...index.keys('records:read'), ...index.keys('audit:read')])]
  return keys.every((key) => permits({ actor }, 'audit:read', key) && readsWhatever(policy, key) && showsWhatever(policy, key))
}

/** Whether a rule without condition lets the caller read the type's records, and none could take any of them back. */
const readsWhatever = (policy: Policy, key: string): boolean =>
  readingRules(policy, key).every((rules) => rules.every(({ effect }) => effect === 'allow') && rules.some(isUnconditional))

/** Whether no rule could hide a field of them, whatever its key. */
const showsWhatever = (policy: Policy, key: string): boolean => readingRules(policy, key).every((rules) => rules.every(hidesNothing))

/** The rules on reading a type's records, in as many lists as have to allow it each by itself; none for the owner. */
const readingRules = ({ ruleIndexes }: Policy, key: string): (readonly PolicyRule[])[] =>
  ruleIndexes.map((index) => index.matching('records:read', key))

const isUnconditional = ({ condition }: PolicyRule): boolean => Object.keys(condition ?? {}).length === 0

function hidesNothing(rule: PolicyRule): boolean {
  const { denied, allowed } = fieldMaskOf(rule)
  return denied.size === 0 && allowed === null
}
