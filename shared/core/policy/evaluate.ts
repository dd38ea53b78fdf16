import { bindCondition } from '#shared/core/policy/conditions/condition.ts'
import {
  type Attributes,
  type PolicyPrincipal,
  type SubjectResolver,
  subjectsOfAnyRecord,
  subjectsOfAttributes,
  type TestedField,
} from '#shared/core/policy/conditions/tested-value.ts'
import { compileRecordAccess, createFullRecordAccess, type RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { isRecordAction, type Permission, type RecordAction } from '#shared/core/policy/permissions.ts'
import { assumeUnknown } from '#shared/core/policy/rules/assume-unknown.ts'
import { bindRule, type Verdict, verdictOf } from '#shared/core/policy/rules/bound-rule.ts'
import { indexRules, type RuleIndex } from '#shared/core/policy/rules/rule-index.ts'
import type { SourcedRule } from '#shared/core/policy/schemas.ts'

export type { Attributes, PolicyPrincipal, TestedField, TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
export type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
export type { SourcedRule } from '#shared/core/policy/schemas.ts'

/** `sometimes` means that the answer depends on the record; only record permissions return it. */
export type Permit = 'always' | 'sometimes' | 'never'

/**
 * Answer of simulate (docs/contract/access.md#simulation). `matched` is the deciding rule; null if none decided or the caller is the owner.
 */
export interface Decision {
  readonly allowed: boolean
  readonly effect: 'allow' | 'deny'
  readonly matched: SourcedRule | null
}

/** One caller's rights in a workspace: the combined rules of all its roles (docs/contract/access.md#roles). */
export interface Policy {
  /**
   * Whether the caller has the permission on the resource. The default resource is `*`: every item, or the workspace itself, so rules on
   * single keys do not count. Without `attributes`, tests of a record's values are left undecided for `records:…`, and find a missing value
   * for other permissions.
   */
  readonly permits: (permission: Permission, resource?: string, attributes?: Attributes) => Permit
  /**
   * Whether a deny rule refuses the permission on the resource. It also refuses what a share or a higher permission would allow. For
   * permissions other than `records:…`.
   */
  readonly denies: (permission: Permission, resource: string) => boolean
  /** Whether the caller has the permission on every item, also on one that is gone: no rule refuses it on any. For permissions other than `records:…`. */
  readonly permitsAll: (permission: Permission) => boolean
  /** Whether the caller has the permission on any resource. Lists use it and then show only permitted items. */
  readonly permitsSomewhere: (permission: Permission) => boolean
  /** Decides for a resource with these attributes; `fields` give their types. Only rules on every item match resource `*`. */
  readonly decide: (permission: Permission, resource: string, attributes: Attributes, fields?: readonly TestedField[]) => Decision
  /** The caller's access to the records of a type. Compiled once per array of fields: the same array returns the same object. */
  readonly recordAccess: (action: RecordAction, typeKey: string, fields: readonly TestedField[]) => RecordAccess
  /**
   * The caller's access to records of which these fields are unknown: on one of them no allow condition holds, and every deny condition does.
   */
  readonly recordAccessWithout: (
    action: RecordAction,
    typeKey: string,
    fields: readonly TestedField[],
    unknown: ReadonlySet<string>,
  ) => RecordAccess
  /** Rule indexes that must all allow an action for this policy to allow it; empty for the owner. */
  readonly ruleIndexes: readonly RuleIndex<SourcedRule>[]
}

/** Compiles the rules of all the caller's roles. The owner has every permission; no rule restricts it. */
export function compilePolicy(rules: readonly SourcedRule[], principal: PolicyPrincipal): Policy {
  if (principal.owner) return ownerPolicy
  const index = indexRules(rules)
  const onRecords = memoizeByObject((rules: readonly SourcedRule[]) => permitOnRecords(rules, principal))
  const onAnything = memoizeByObject((rules: readonly SourcedRule[]) =>
    permitOf(decideAmong(rules, principal, subjectsOfAttributes(principal, {}, []))),
  )
  const recordAccess = memoizeByFields((action, typeKey, fields) =>
    compileRecordAccess(index.matching(action, typeKey), principal, typeKey, fields),
  )
  const decide: Policy['decide'] = (permission, resource, attributes, fields = []) => {
    const tested = isRecordAction(permission) && resource !== '*' ? { object_type: resource, ...attributes } : attributes
    return decideAmong(index.matching(permission, resource), principal, subjectsOfAttributes(principal, tested, fields))
  }
  const permitsOn: Policy['permits'] = (permission, resource = '*', attributes) => {
    if (attributes !== undefined) return permitOf(decide(permission, resource, attributes))
    return (isRecordAction(permission) ? onRecords : onAnything)(index.matching(permission, resource))
  }
  const permitsSomewhere: Policy['permitsSomewhere'] = (permission) => {
    const permit = isRecordAction(permission) ? onRecords : onAnything
    const everywhere = index.matching(permission, '*')
    if (permit(everywhere) !== 'never') return true
    // Those rules permit nothing on a key either, but may refuse all keys, also what another rule would allow.
    if (permit([...everywhere, unlimitedRule]) === 'never') return false
    return index.namedLists(permission).some((named) => permit(named) !== 'never')
  }
  const permitsAll: Policy['permitsAll'] = (permission) => {
    const everywhere = index.matching(permission, '*')
    return [[], ...index.namedLists(permission)].every((named) => onAnything([...everywhere, ...named]) !== 'never')
  }
  return Object.freeze({
    permits: permitsOn,
    permitsAll,
    denies: (permission, resource) => decide(permission, resource, {}).matched?.effect === 'deny',
    permitsSomewhere,
    decide,
    recordAccess,
    recordAccessWithout: (action, typeKey, fields, unknown) =>
      compileRecordAccess(assumeUnknown(index.matching(action, typeKey), unknown), principal, typeKey, fields),
    ruleIndexes: [index],
  } satisfies Policy)
}

const unlimitedRule: SourcedRule = { effect: 'allow', actions: ['*'], role_id: '', index: 0 }

/** The policy of the owner and of the platform itself. */
const ownerPolicy: Policy = Object.freeze({
  permits: () => 'always',
  denies: () => false,
  permitsAll: () => true,
  permitsSomewhere: () => true,
  decide: () => ({ allowed: true, effect: 'allow', matched: null }),
  recordAccess: memoizeByFields((_action, _typeKey, fields) => createFullRecordAccess(fields)),
  recordAccessWithout: (action, typeKey, fields) => ownerPolicy.recordAccess(action, typeKey, fields),
  ruleIndexes: [],
} satisfies Policy)

/** Deny overrides allow, and the default is deny. Order does not matter. */
function decideAmong(rules: readonly SourcedRule[], principal: PolicyPrincipal, subjectOf: SubjectResolver): Decision {
  const truthOf = ({ condition }: SourcedRule) => bindCondition(condition, principal, subjectOf).truth
  const deny = rules.find((rule) => rule.effect === 'deny' && truthOf(rule) !== false)
  const matched = deny ?? rules.find((rule) => rule.effect === 'allow' && truthOf(rule) === true) ?? null
  return { allowed: matched?.effect === 'allow', effect: matched?.effect ?? 'deny', matched }
}

const permitOf = ({ allowed }: Decision): Permit => (allowed ? 'always' : 'never')

const permits = { all: 'always', some: 'sometimes', none: 'never' } as const satisfies Record<Verdict, Permit>

const permitOnRecords = (rules: readonly SourcedRule[], principal: PolicyPrincipal): Permit =>
  permits[verdictOf(rules.map((rule) => bindRule(rule, principal, subjectsOfAnyRecord(principal))))]

type MakeAccess = (action: RecordAction, typeKey: string, fields: readonly TestedField[]) => RecordAccess

/** Memoizes per array of fields, so the entries of outdated type metadata are garbage-collected with its array. */
function memoizeByFields(make: MakeAccess): MakeAccess {
  const accessByName = memoizeByObject((_fields: readonly TestedField[]) => new Map<string, RecordAccess>())
  return (action, typeKey, fields) => {
    const kept = accessByName(fields)
    const access = kept.get(`${action} ${typeKey}`) ?? make(action, typeKey, fields)
    kept.set(`${action} ${typeKey}`, access)
    return access
  }
}
