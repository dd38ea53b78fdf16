import type { Policy, RecordAccess } from '#shared/core/policy/evaluate.ts'
import { maskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'

/**
 * What a caller may see of a type's entries: what it may read of the type's records as they are now. Of a record or field that is gone
 * nobody can tell whether a condition would hold, so what those held is only for callers of whose rules none could have hidden it.
 */
export interface TypeReader {
  readonly type: RecordType
  readonly access: RecordAccess
  readonly seesGoneRecords: boolean
  readonly seesGoneFields: boolean
}

/** The types whose entries the caller may see, if only of some records. */
export function readersOf({ actor }: Scope, types: readonly RecordType[]): TypeReader[] {
  const { policy } = actor
  return types
    .filter(({ key }) => permits({ actor }, 'audit:read', key))
    .map((type) => {
      const seesGoneRecords = readsWhatever(policy, type.key)
      return {
        type,
        access: policy.recordAccess('records:read', type.key, type.fields),
        seesGoneRecords,
        seesGoneFields: seesGoneRecords && showsWhatever(policy, type.key),
      }
    })
    .filter(({ access }) => access.verdict !== 'none')
}

/** Whether nothing of any record is kept from the caller, also not of types that are gone: the owner, and whoever holds rules like it. */
export function seesEverything({ actor }: Scope): boolean {
  const { policy } = actor
  const keys = ['*', ...policy.sources.flatMap((index) => [...index.keys('records:read'), ...index.keys('audit:read')])]
  return keys.every((key) => permits({ actor }, 'audit:read', key) && readsWhatever(policy, key) && showsWhatever(policy, key))
}

/** Whether a rule without condition lets the caller read the type's records, and none could take any of them back. */
const readsWhatever = (policy: Policy, key: string): boolean =>
  readingRules(policy, key).every((rules) => rules.every(({ effect }) => effect === 'allow') && rules.some(isUnconditional))

/** Whether no rule could hide a field of them, whatever its key. */
const showsWhatever = (policy: Policy, key: string): boolean => readingRules(policy, key).every((rules) => rules.every(hidesNothing))

/** The rules on reading a type's records, in as many lists as have to allow it each by itself; none for the owner. */
const readingRules = ({ sources }: Policy, key: string): (readonly PolicyRule[])[] =>
  sources.map((index) => index.matching('records:read', key))

const isUnconditional = ({ condition }: PolicyRule): boolean => Object.keys(condition ?? {}).length === 0

function hidesNothing(rule: PolicyRule): boolean {
  const { denied, allowed } = maskOf(rule)
  return denied.size === 0 && allowed === null
}
