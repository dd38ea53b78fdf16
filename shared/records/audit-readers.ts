import type { Policy, RecordAccess } from '#shared/access/evaluate.ts'
import { maskOf } from '#shared/access/field-mask.ts'
import type { PolicyRule } from '#shared/access/policy.ts'
import type { Scope } from '#shared/access/scope.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** What a caller may see of a type's entries: what it may read of the type's records as they are now. */
export interface TypeReader {
  readonly type: RecordType
  readonly access: RecordAccess
  /** Whether no rule of the caller hides a field of this type by name: then it also sees those that are gone. */
  readonly seesGoneFields: boolean
}

/** The types whose entries the caller may see, if only of some records. */
export function readersOf({ actor: { policy } }: Scope, types: readonly RecordType[]): TypeReader[] {
  return types
    .filter(({ key }) => policy.permits('audit:read', key) === 'always')
    .map((type) => ({
      type,
      access: policy.recordAccess('records:read', type.key, type.fields),
      seesGoneFields: everyRule(policy, type.key, (rule) => !hidesFields(rule)),
    }))
    .filter(({ access }) => access.verdict !== 'none')
}

/**
 * Whether nothing of any record, also of types and fields that are gone, is kept from the caller: the owner, and whoever has rules that
 * allow everything and none that takes any of it back. Of what is gone nobody can tell whether a condition would have held.
 */
export function seesEverything({ actor: { policy } }: Scope): boolean {
  const keys = ['*', ...policy.sources.flatMap((index) => [...index.keys('records:read'), ...index.keys('audit:read')])]
  return keys.every((key) => policy.permits('audit:read', key) === 'always' && everyRule(policy, key, isUnconditional))
}

/** Whether all rules that match reading the type's records pass, and there is one in each part that has to allow it. */
const everyRule = ({ sources }: Policy, key: string, passes: (rule: PolicyRule) => boolean): boolean =>
  sources.map((index) => index.matching('records:read', key)).every((rules) => rules.length > 0 && rules.every(passes))

const isUnconditional = (rule: PolicyRule): boolean =>
  rule.effect === 'allow' && Object.keys(rule.condition ?? {}).length === 0 && !hidesFields(rule)

function hidesFields(rule: PolicyRule): boolean {
  const { denied, allowed } = maskOf(rule)
  return denied.size > 0 || allowed !== null
}
