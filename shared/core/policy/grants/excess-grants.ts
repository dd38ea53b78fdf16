import { conditionKey, dependsOnHolder, reachesPastOwn } from '#shared/core/policy/conditions/condition.ts'
import { compilePolicy, type Policy } from '#shared/core/policy/evaluate.ts'
import { fieldMaskOf, revealsField } from '#shared/core/policy/fields/field-mask.ts'
import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { type Permission, permissionsOf } from '#shared/core/policy/permissions.ts'
import { distinctRules } from '#shared/core/policy/rules/fold-rules.ts'
import { appliesToEveryItem, indexRules, type RuleIndex } from '#shared/core/policy/rules/rule-index.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * Checks that a role with these rules grants no more than the granter holds (docs/contract/access.md#giving-rights). Returns a FORBIDDEN
 * that names the first excess grant, or undefined. Call it when a role is created, changed or assigned to a person, a service account or an
 * invitation.
 *
 * A deny rule that limits the granter must be among the role's rules too. The same holds for `fields.deny` of the granter's rules, since no
 * other rule lifts it: the role must contain it wherever it hides a field that the role would show. The owner may grant everything.
 *
 * A condition that tests the caller, or names it otherwise than for own records, covers no grant; one that names the caller at all replaces
 * no limit. If both policies belong to one holder, as before and after a change of a role, `isSameHolder` compares such conditions like any other.
 */
export function findExcessGrant(granter: Policy, rules: readonly PolicyRule[], isSameHolder = false): Problem | undefined {
  const role = indexRules(rules)
  for (const held of granter.ruleIndexes) {
    for (const [index, rule] of rules.entries()) {
      const excess = rule.effect === 'allow' ? findExcess(held, role, rule, isSameHolder) : undefined
      if (excess !== undefined) return problem('FORBIDDEN', `policy[${index}] grants more than you hold: ${excess}`)
    }
  }
  return undefined
}

type Rules = RuleIndex<PolicyRule>

/** Returns the first permission and resource of an allow rule that the granter does not hold. */
function findExcess(held: Rules, role: Rules, rule: PolicyRule, isSameHolder: boolean): string | undefined {
  const [compareShown, comparePlain] = [createComparison(rule, true, isSameHolder), createComparison(rule, false, isSameHolder)]
  for (const permission of new Set(rule.actions.flatMap(permissionsOf))) {
    const compare = fieldPermissions.has(permission) ? compareShown : comparePlain
    // A rule on every item is also one on each key that the granter's rules name.
    for (const resource of appliesToEveryItem(rule) ? ['*', ...held.keys(permission)] : new Set(rule.resources)) {
      const reason = compare(held.matching(permission, resource), role.matching(permission, resource))
      if (reason !== undefined) return `${permission} on ${resource}${reason}`
    }
  }
  return undefined
}

type CompareRules = (grants: readonly PolicyRule[], own: readonly PolicyRule[]) => string | undefined

/**
 * Returns a function that compares `rule` with the granter's and the role's rules for one permission and resource. Its result ends the
 * message for an excess grant: empty if no rule of the granter covers `rule`, else the limit that the role lacks; undefined if the granter
 * holds the grant. Results are memoized by list of rules, since most resources share their lists.
 */
function createComparison(rule: PolicyRule, shows: boolean, isSameHolder: boolean): CompareRules {
  const covering = (grant: PolicyRule) => isSameHolder || !reachesPastOwn(grant)
  const counted = memoizeByObject((own: readonly PolicyRule[]) => own.filter((one) => isSameHolder || !dependsOnHolder(one)))
  const limitsAmong = memoizeByObject((grants: readonly PolicyRule[]) => {
    if (!grants.some((grant) => covering(grant) && covers(grant, rule, shows))) return undefined
    return distinctRules(grants.filter((grant) => limits(grant, rule, shows)))
  })
  const verdicts = memoizeByObject((grants: readonly PolicyRule[]) =>
    memoizeByObject((own: readonly PolicyRule[]) => {
      const lifted = limitsAmong(grants)?.find((limit) => !includesLimit(counted(own), rule, limit))
      return lifted && (lifted.effect === 'deny' ? ', which a rule denies you' : ', without hiding the fields that are hidden from you')
    }),
  )
  return (grants, own) => (limitsAmong(grants) ? verdicts(grants)(own) : '')
}

/** The permissions that show fields. A rule's `fields` have no meaning for any other permission. */
const fieldPermissions: ReadonlySet<Permission> = new Set<Permission>(['records:read', 'records:export'])

const unconditional = conditionKey({ effect: 'allow', actions: [] })

/** Whether a rule applies to every record to which the other applies. */
function appliesAsWidely(rule: PolicyRule, other: PolicyRule): boolean {
  const key = conditionKey(rule)
  return key === unconditional || key === conditionKey(other)
}

/** Whether an allow rule of the granter covers one of the role. Masks are compared only if the permission shows fields (`shows`). */
const covers = (grant: PolicyRule, rule: PolicyRule, shows: boolean): boolean =>
  grant.effect === 'allow' && appliesAsWidely(grant, rule) && (!shows || showsNoMore(rule, grant))

/** Whether every field that the first rule reveals is revealed by the second. */
function showsNoMore(rule: PolicyRule, other: PolicyRule): boolean {
  const [mask, wider] = [fieldMaskOf(rule), fieldMaskOf(other)]
  if (mask.allowed) return [...mask.allowed].every((field) => !revealsField(mask, field) || revealsField(wider, field))
  return wider.allowed === null && wider.denied.isSubsetOf(mask.denied)
}

/** Whether a rule of the granter limits the role's rule: it denies, or hides a field that the rule reveals. */
const limits = (grant: PolicyRule, rule: PolicyRule, shows: boolean): boolean =>
  grant.effect === 'deny' || (shows && hiddenFrom(grant, rule).length > 0)

const hiddenFrom = (grant: PolicyRule, rule: PolicyRule): string[] =>
  [...fieldMaskOf(grant).denied].filter((field) => revealsField(fieldMaskOf(rule), field))

/** Whether the role's own rules contain a limit of the granter. */
function includesLimit(own: readonly PolicyRule[], rule: PolicyRule, limit: PolicyRule): boolean {
  const { denied, hiding } = limitsIn(own)
  if (limit.effect === 'deny') return denied.has(unconditional) || denied.has(conditionKey(limit))
  const hidden = hiddenFrom(limit, rule)
  return hiding.some((one) => appliesAsWidely(one, limit) && hidden.every((field) => fieldMaskOf(one).denied.has(field)))
}

/** The limits in a list of rules: the conditions of deny rules, and the allow rules that hide fields. */
const limitsIn = memoizeByObject((rules: readonly PolicyRule[]) => ({
  denied: new Set(rules.filter(({ effect }) => effect === 'deny').map(conditionKey)),
  hiding: rules.filter((rule) => rule.effect === 'allow' && fieldMaskOf(rule).denied.size > 0),
}))

/**
 * Returns, as allow rules, the limits of `before` that `after` no longer has. Removing a deny rule grants what the rule refused, so the
 * remover must hold those rights (docs/contract/access.md#giving-rights).
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
