import { conditionKey } from '#shared/policy/condition.ts'
import { maskOf } from '#shared/policy/field-mask.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'

/** Removes duplicate rules, since roles often repeat each other. Actions and resources are not compared. */
export const distinctRules = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [`${rule.effect} ${conditionKey(rule)} ${maskOf(rule).key}`, rule])).values(),
]
