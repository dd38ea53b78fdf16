import { type BoundCondition, bindCondition, evaluateCondition } from '#shared/core/policy/conditions/condition.ts'
import type { PolicyPrincipal, SubjectResolver, TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { type FieldMask, fieldMaskOf } from '#shared/core/policy/fields/field-mask.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/** A rule bound to one caller and type. `applies` says to which records it applies, as far as that is known without reading one. */
export interface BoundRule {
  readonly effect: PolicyRule['effect']
  readonly condition: BoundCondition
  readonly applies: 'always' | 'never' | 'varies'
  readonly mask: FieldMask
}

/**
 * Binds a rule. If the sides of a test cannot be compared, an allow rule does not apply and a deny rule does
 * (docs/contract/access.md#conditions).
 */
export function bindRule(rule: PolicyRule, principal: PolicyPrincipal, subjectOf: SubjectResolver): BoundRule {
  const condition = bindCondition(rule.condition, principal, subjectOf)
  const isExcluded = rule.effect === 'allow' ? condition.truth !== true : condition.truth === false
  return {
    effect: rule.effect,
    condition,
    applies: isExcluded ? 'never' : condition.recordTests.length > 0 ? 'varies' : 'always',
    mask: fieldMaskOf(rule),
  }
}

/** Whether a bound rule applies to a record. */
export function appliesTo({ effect, condition, applies }: BoundRule, record: TestedRecord): boolean {
  if (applies !== 'varies') return applies === 'always'
  const truth = evaluateCondition(condition, record)
  return effect === 'allow' ? truth === true : truth !== false
}

/** The share of a type's records for which rules allow an action, as far as it is known without reading a record. */
export type Verdict = 'all' | 'some' | 'none'

/** `none` without an allow rule, or with a deny rule that always applies; `all` if an allow rule always applies and no deny rule can. */
export function verdictOf(rules: readonly BoundRule[]): Verdict {
  const allows = rules.filter(({ effect }) => effect === 'allow')
  const denies = rules.filter(({ effect, applies }) => effect === 'deny' && applies !== 'never')
  if (allows.length === 0 || denies.some(isAlways)) return 'none'
  return denies.length === 0 && allows.some(isAlways) ? 'all' : 'some'
}

const isAlways = ({ applies }: BoundRule): boolean => applies === 'always'
