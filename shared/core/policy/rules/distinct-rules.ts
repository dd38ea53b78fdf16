import { conditionKey } from '#shared/core/policy/conditions/condition.ts'
import { fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'

/** Removes duplicate rules, since roles often repeat each other. Actions and resources are not compared. */
export const distinctRules = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [`${rule.effect} ${conditionKey(rule)} ${fieldMaskOf(rule).key}`, rule])).values(),
]
