import { type Permission, permissions } from '#shared/core/policy/permissions.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { Holds, Resource } from '#test/core/events/masks/cases.ts'

/** A caller of some kind: a person, or a service account by its key, with rules. */
export interface CallerKind {
  readonly name: string
  readonly type: 'user' | 'service'
  readonly rules: readonly PolicyRule[]
}

const allow = (permission: Permission, more: object = {}): PolicyRule => ({ effect: 'allow', actions: [permission], ...more })
const deny = (permission: Permission, more: object = {}): PolicyRule => ({ effect: 'deny', actions: [permission], ...more })
const everything: PolicyRule = { effect: 'allow', actions: ['*'] }
const forServices = { condition: { 'principal.type': { eq: 'service' } } }

/** The kinds of callers that differ in a permission, and in rules on a resource where they can name one. */
export function callerKinds(permission: Permission, resource?: string): CallerKind[] {
  const others = permissions.filter((one) => one !== permission)
  const kinds: Readonly<Record<string, readonly PolicyRule[]>> = {
    'with the permission': [allow(permission)],
    'without any': [],
    'with every other permission': [{ effect: 'allow', actions: [...others] }],
    'with everything, denied it': [everything, deny(permission)],
    'with the permission elsewhere': [allow(permission, { resources: ['elsewhere'] })],
    'with everything, denied it elsewhere': [everything, deny(permission, { resources: ['elsewhere'] })],
    'allowed as a service': [allow(permission, forServices)],
    'denied as a service': [allow(permission), deny(permission, forServices)],
    ...(resource === undefined
      ? {}
      : {
          'with the permission on it': [allow(permission, { resources: [resource] })],
          'with the permission, denied on it': [allow(permission), deny(permission, { resources: [resource] })],
          'with the permission on it, denied as a service': [allow(permission, { resources: [resource] }), deny(permission, forServices)],
        }),
  }
  return Object.entries(kinds).flatMap(([name, rules]) =>
    (['user', 'service'] as const).map((type) => ({ name: `${type} ${name}: ${permission}`, type, rules })),
  )
}

/** The rights that rules give, by the contract (docs/contract/access.md#decisions), without Kontor's code. */
export const rightsOf =
  ({ rules, type }: CallerKind): Holds =>
  (permission, resource) => {
    const applying = rules.filter(
      ({ actions, condition }) =>
        actions.some((action) => action === '*' || action === permission) && (condition === undefined || type === 'service'),
    )
    const isEffective = (effect: PolicyRule['effect'], isOn: (rule: PolicyRule) => boolean) =>
      applying.some((rule) => rule.effect === effect && isOn(rule))
    return !isEffective('deny', (rule) => mayName(rule, resource)) && isEffective('allow', (rule) => names(rule, resource))
  }

const names = ({ resources }: PolicyRule, resource: Resource): boolean =>
  !resources || (typeof resource === 'string' && resources.includes(resource))

/** A thing that is gone may be the one that a rule names. */
const mayName = (rule: PolicyRule, resource: Resource): boolean => resource === undefined || names(rule, resource)
