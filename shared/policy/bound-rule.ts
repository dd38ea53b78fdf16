import { bindCondition, type Condition, holdsFor } from '#shared/policy/condition.ts'
import { type FieldMask, maskOf } from '#shared/policy/field-mask.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'
import type { Principal, SubjectOf, TestedRecord } from '#shared/policy/tested-value.ts'

/** A rule bound to one caller and type. `always`, `never` and `varies` say for which records it applies, before any is looked at. */
export interface BoundRule {
  readonly effect: PolicyRule['effect']
  readonly condition: Condition
  readonly applies: 'always' | 'never' | 'varies'
  readonly mask: FieldMask
}

/** Binds a rule. Where sides cannot be compared an allow rule does not apply and a deny rule does (document 1, Authentication, rule 6). */
export function bindRule(rule: PolicyRule, principal: Principal, subjectOf: SubjectOf): BoundRule {
  const condition = bindCondition(rule.condition, principal, subjectOf)
  const out = rule.effect === 'allow' ? condition.known !== true : condition.known === false
  return { effect: rule.effect, condition, applies: out ? 'never' : condition.open.length > 0 ? 'varies' : 'always', mask: maskOf(rule) }
}

/** Whether a bound rule applies to a record. */
export function appliesTo({ effect, condition, applies }: BoundRule, record: TestedRecord): boolean {
  if (applies !== 'varies') return applies === 'always'
  const truth = holdsFor(condition, record)
  return effect === 'allow' ? truth === true : truth !== false
}

/** For which records of a type rules allow an action, as far as can be told before any is looked at. */
export type Verdict = 'all' | 'some' | 'none'

/** `none` without any allow rule, whatever its condition, and under a deny rule that always applies; `all` where nothing is left open. */
export function verdictOf(rules: readonly BoundRule[]): Verdict {
  const allows = rules.filter(({ effect }) => effect === 'allow')
  const denies = rules.filter(({ effect, applies }) => effect === 'deny' && applies !== 'never')
  if (allows.length === 0 || denies.some(isAlways)) return 'none'
  return denies.length === 0 && allows.some(isAlways) ? 'all' : 'some'
}

const isAlways = ({ applies }: BoundRule): boolean => applies === 'always'
