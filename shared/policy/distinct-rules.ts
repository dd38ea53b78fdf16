import { conditionKey } from '#shared/policy/condition.ts'
import { maskOf } from '#shared/policy/field-mask.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'

/** Roles repeat each other: of rules that say the same, their actions and resources aside, one. */
export const distinctRules = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [`${rule.effect} ${conditionKey(rule)} ${maskOf(rule).key}`, rule])).values(),
]
