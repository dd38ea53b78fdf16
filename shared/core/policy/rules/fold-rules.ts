import { conditionKey, createMembershipTest, type RecordTest } from '#shared/core/policy/conditions/condition.ts'
import { fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { BoundRule } from '#shared/core/policy/rules/bound-rule.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/**
 * Merges rules that differ only in the required value of one field into a rule that accepts any of the values. A caller with 50 roles may
 * hold 2,500 such rules; unmerged, each would be a condition of every statement, and no index could find their records.
 */
export function mergeMembershipRules(rules: readonly BoundRule[]): readonly BoundRule[] {
  const groups = Map.groupBy(rules, (rule) => mergeKey(rule) ?? rule)
  return [...groups.values()].flatMap((group) => (group.length > 1 ? mergeGroup(group) : group))
}

type MembershipTest = NonNullable<RecordTest['among']>

/** The membership test of a rule whose condition consists of that test alone. */
function membershipTestOf({ condition: { truth, recordTests }, applies }: BoundRule): MembershipTest | undefined {
  return applies === 'varies' && truth === true && recordTests.length === 1 ? recordTests[0]?.among : undefined
}

function mergeKey(rule: BoundRule): string | undefined {
  const among = membershipTestOf(rule)
  return among && `${rule.effect} ${rule.mask.key} ${among.subject.column}`
}

function mergeGroup(group: readonly BoundRule[]): BoundRule[] {
  const [first] = group
  const all = group.flatMap((rule) => membershipTestOf(rule) ?? [])
  const subject = all[0]?.subject
  if (!first || !subject) return [...group]
  const test = createMembershipTest(
    subject,
    all.flatMap(({ values }) => values),
  )
  return [{ ...first, condition: { truth: true, recordTests: [test] } }]
}

/** Removes duplicate rules, since roles often repeat each other. Actions and resources are not compared. */
export const distinctRules = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [`${rule.effect} ${conditionKey(rule)} ${fieldMaskOf(rule).key}`, rule])).values(),
]
