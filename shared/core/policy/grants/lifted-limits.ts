import { compilePolicy } from '#shared/core/policy/evaluate.ts'
import { findExcessGrant } from '#shared/core/policy/grants/excess-grants.ts'
import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'

/**
 * Returns, as allow rules, the limits of `before` that `after` no longer has. Removing a deny rule grants what the rule refused, so the
 * remover must hold those rights (document 1, Roles and access, rule 3).
 */
export function findLiftedLimits(before: readonly PolicyRule[], after: readonly PolicyRule[]): PolicyRule[] {
  const kept = invertLimits(after).map((rule, index) => ({ ...rule, role_id: '', index }))
  const stillRefused = compilePolicy(kept, { id: null, type: 'service', owner: false })
  return invertLimits(before).filter((refused) => findExcessGrant(stillRefused, [refused], true) !== undefined)
}

/** Allow rules for everything that the given rules deny or hide. */
const invertLimits = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap((rule) => (rule.effect === 'deny' ? [toAllowRule(rule)] : revealHidden(rule)))

const toAllowRule = ({ fields: _, ...rule }: PolicyRule): PolicyRule => ({ ...rule, effect: 'allow' })

/** An allow rule for the fields that this rule hides; no other rule reveals them. */
const revealHidden = (rule: PolicyRule): PolicyRule[] => {
  const hidden = rule.fields?.deny ?? []
  return hidden.length > 0 ? [{ ...rule, fields: { allow: hidden } }] : []
}
