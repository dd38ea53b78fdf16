import { conditionKey } from '#shared/access/condition.ts'
import type { Policy } from '#shared/access/evaluate.ts'
import { maskOf, reveals } from '#shared/access/field-mask.ts'
import { type Permission, permissionsOf } from '#shared/access/permissions.ts'
import type { PolicyRule } from '#shared/access/policy.ts'
import { rememberByObject } from '#shared/access/remember.ts'
import { indexRules, isOnEveryItem, type RuleIndex } from '#shared/access/rule-index.ts'
import { type Problem, problem } from '#shared/kernel/errors.ts'

/**
 * Whether a role with these rules grants no more than the granter holds (decisions, People, keys, workspaces): the FORBIDDEN that says
 * what is too much, or undefined. To be asked when a role is created, changed or given: to a person, a service account, in an invitation.
 *
 * What the document says of deny rules is held for `fields.deny` too, since no other rule of the granter lifts it: it has to stand in the
 * role wherever it hides a field that the role would show. The owner passes.
 */
export function grantsNoMore(granter: Policy, rules: readonly PolicyRule[]): Problem | undefined {
  const role = indexRules(rules)
  for (const held of granter.sources) {
    for (const [index, rule] of rules.entries()) {
      const excess = rule.effect === 'allow' ? excessOf(held, role, rule) : undefined
      if (excess !== undefined) return problem('FORBIDDEN', `policy[${index}] grants more than you hold: ${excess}`)
    }
  }
  return undefined
}

type Rules = RuleIndex<PolicyRule>

/** What the granter does not hold of an allow rule: the first permission and resource that is found. */
function excessOf(held: Rules, role: Rules, rule: PolicyRule): string | undefined {
  for (const permission of new Set(rule.actions.flatMap(permissionsOf))) {
    // Keys that no rule of the granter names share one list of rules, which is looked through once.
    const isCovered = rememberByObject((grants: readonly PolicyRule[]) => grants.some((grant) => covers(grant, rule, permission)))
    const limitsAmong = rememberByObject((grants: readonly PolicyRule[]) => grants.filter((grant) => limits(grant, rule, permission)))
    for (const resource of isOnEveryItem(rule) ? ['*'] : new Set(rule.resources)) {
      const matching = held.matching(permission, resource)
      if (!isCovered(matching)) return `${permission} on ${resource}`
      const lifted = limitsAmong(resource === '*' ? held.naming(permission) : matching).find(
        (limit) => !standsIn(role, rule, permission, resource, limit),
      )
      if (lifted)
        return `${permission} on ${resource} without ${lifted.effect === 'deny' ? 'a rule that denies it to you' : 'hiding the fields hidden from you'}`
    }
  }
  return undefined
}

/** The permissions by which fields are shown; to every other a rule's `fields` mean nothing. */
const showing: ReadonlySet<Permission> = new Set<Permission>(['records:read', 'records:export'])

const unconditional = conditionKey({ effect: 'allow', actions: [] })

/** Whether a rule applies at least where another does. */
function appliesAsWidely(rule: PolicyRule, other: PolicyRule): boolean {
  const key = conditionKey(rule)
  return key === unconditional || key === conditionKey(other)
}

/** Whether an allow rule of the granter covers one of the role; that it has the permission and resource is known. */
const covers = (grant: PolicyRule, rule: PolicyRule, permission: Permission): boolean =>
  grant.effect === 'allow' && appliesAsWidely(grant, rule) && (!showing.has(permission) || showsNoMore(rule, grant))

/** Whether every field that the first rule reveals is revealed by the second. */
function showsNoMore(rule: PolicyRule, other: PolicyRule): boolean {
  const [mask, wider] = [maskOf(rule), maskOf(other)]
  if (mask.allowed) return [...mask.allowed].every((field) => !reveals(mask, field) || reveals(wider, field))
  return wider.allowed === null && wider.denied.isSubsetOf(mask.denied)
}

/** Whether a rule of the granter takes away something that the role's rule would give: it denies, or hides a field that the rule reveals. */
const limits = (grant: PolicyRule, rule: PolicyRule, permission: Permission): boolean =>
  grant.effect === 'deny' || (showing.has(permission) && hiddenFrom(grant, rule).length > 0)

const hiddenFrom = (grant: PolicyRule, rule: PolicyRule): string[] =>
  [...maskOf(grant).denied].filter((field) => reveals(maskOf(rule), field))

/** Whether a limit of the granter stands in the role wherever both the limit and the rule are. */
function standsIn(role: Rules, rule: PolicyRule, permission: Permission, resource: string, limit: PolicyRule): boolean {
  const common = resource !== '*' ? [resource] : isOnEveryItem(limit) ? ['*'] : (limit.resources ?? [])
  const hidden = limit.effect === 'deny' ? [] : hiddenFrom(limit, rule)
  return [...common].every((key) =>
    role
      .matching(permission, key)
      .some((own) => own.effect === limit.effect && appliesAsWidely(own, limit) && hidden.every((field) => maskOf(own).denied.has(field))),
  )
}
