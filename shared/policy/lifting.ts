import { grantsNoMore } from '#shared/policy/containment.ts'
import { compilePolicy } from '#shared/policy/evaluate.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'

/**
 * What a role grants its holders by losing rules: as allow rules, whatever `before` refused or hid and `after` does not. Taking a deny
 * rule from somebody gives what it refused, so whoever does it must hold that (document 1, Roles and access, rule 3).
 */
export function liftedBy(before: readonly PolicyRule[], after: readonly PolicyRule[]): PolicyRule[] {
  const kept = refusals(after).map((rule, index) => ({ ...rule, role_id: '', index }))
  const stillRefused = compilePolicy(kept, { id: null, type: 'service', owner: false })
  return refusals(before).filter((refused) => grantsNoMore(stillRefused, [refused], true) !== undefined)
}

/** The opposite of every rule that takes something away. */
const refusals = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap((rule) => (rule.effect === 'deny' ? [allowing(rule)] : shown(rule)))

const allowing = ({ fields: _, ...rule }: PolicyRule): PolicyRule => ({ ...rule, effect: 'allow' })

/** The fields that an allow rule hides, which no other rule reveals. */
const shown = (rule: PolicyRule): PolicyRule[] => {
  const hidden = rule.fields?.deny ?? []
  return hidden.length > 0 ? [{ ...rule, fields: { allow: hidden } }] : []
}
