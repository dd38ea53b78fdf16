import { type Permission, permissions } from '#shared/core/policy/permissions.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { Resource, Rights } from '#test/core/events/masks/cases.ts'

/** A caller of some kind: a person, or a service account by its key, with rules. */
export interface CallerKind {
  readonly name: string
  /** The permission in which callers of this kind differ from others. */
  readonly permission: Permission
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
    (['user', 'service'] as const).map((type) => ({ name: `${type} ${name}: ${permission}`, permission, type, rules })),
  )
}

/** The rights that rules give, by the contract (docs/contract/access.md#decisions), without Kontor's code. */
export function rightsOf({ rules, type }: CallerKind, callerId: string): Rights {
  const isEffective = (effect: PolicyRule['effect'], permission: Permission, isOn: (rule: PolicyRule) => boolean) =>
    rules.some(
      (rule) =>
        rule.effect === effect &&
        rule.actions.some((action) => action === '*' || action === permission) &&
        (rule.condition === undefined || type === 'service') &&
        isOn(rule),
    )
  const isDenied: Rights['isDenied'] = (permission, resource) => isEffective('deny', permission, (rule) => mayName(rule, resource))
  const holds: Rights['holds'] = (permission, resource) =>
    !isDenied(permission, resource) && isEffective('allow', permission, (rule) => names(rule, resource))
  return { holds, isDenied, callerId }
}

const names = ({ resources }: PolicyRule, resource: Resource): boolean =>
  !resources || (typeof resource === 'string' && resources.includes(resource))

/** A thing that is gone may be the one that a rule names. */
const mayName = (rule: PolicyRule, resource: Resource): boolean => resource === undefined || names(rule, resource)
