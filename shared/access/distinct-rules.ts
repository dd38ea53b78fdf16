import { conditionKey } from '#shared/access/condition.ts'
import { maskOf } from '#shared/access/field-mask.ts'
import type { PolicyRule } from '#shared/access/policy.ts'

/** Roles repeat each other: of rules that say the same, their actions and resources aside, one. */
export const distinctRules = (rules: readonly PolicyRule[]): readonly PolicyRule[] => [
  ...new Map(rules.map((rule) => [`${rule.effect} ${conditionKey(rule)} ${maskOf(rule).key}`, rule])).values(),
]
