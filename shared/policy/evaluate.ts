import { bindRule, type Verdict, verdictOf } from '#shared/policy/bound-rule.ts'
import { bindCondition } from '#shared/policy/condition.ts'
import { isRecordAction, type Permission, type RecordAction } from '#shared/policy/permissions.ts'
import type { SourcedRule } from '#shared/policy/policy.ts'
import { compileRecordAccess, fullRecordAccess, type RecordAccess } from '#shared/policy/record-access.ts'
import { rememberByObject } from '#shared/policy/remember.ts'
import { indexRules, type RuleIndex } from '#shared/policy/rule-index.ts'
import {
  type Attributes,
  type Principal,
  type SubjectOf,
  subjectsOfAnyRecord,
  subjectsOfAttributes,
  type TestedField,
} from '#shared/policy/tested-value.ts'

export type { SourcedRule } from '#shared/policy/policy.ts'
export type { RecordAccess } from '#shared/policy/record-access.ts'
export type { Attributes, Principal, TestedField, TestedRecord } from '#shared/policy/tested-value.ts'

/** `sometimes`: it depends on the record. Only the permissions of records are ever asked so. */
export type Permit = 'always' | 'sometimes' | 'never'

/** What simulate answers (document 1, Roles and access): `matched` is the rule that decided, null when none did or the owner asks. */
export interface Decision {
  readonly allowed: boolean
  readonly effect: 'allow' | 'deny'
  readonly matched: SourcedRule | null
}

/** All that one caller may do in a workspace: the rules of all its roles together (document 1, Authentication). */
export interface Policy {
  /**
   * May the caller, on this resource? Left out, the resource is `*`: every item, or the workspace itself, so rules on single keys do not
   * count. For `records:…` conditions stay open, for every other permission they are tested on the attributes, of which none is the default.
   */
  readonly permits: (permission: Permission, resource?: string, attributes?: Attributes) => Permit
  /** Whether there is any resource on which the caller may: for lists that then show only those. */
  readonly permitsSomewhere: (permission: Permission) => boolean
  /** The decision on something with these attributes; `fields` say of what type they are. Resource `*` is matched by rules on every item alone. */
  readonly decide: (permission: Permission, resource: string, attributes: Attributes, fields?: readonly TestedField[]) => Decision
  /** What the caller may do with the records of a type. The same array of fields gives the same object, compiled once. */
  readonly recordAccess: (action: RecordAction, typeKey: string, fields: readonly TestedField[]) => RecordAccess
  /** The rules, by permission and resource, that all have to allow what this policy allows; none for the owner. */
  readonly sources: readonly RuleIndex<SourcedRule>[]
}

/** Compiles the rules of all roles that a caller holds. The owner holds everything, and no rule binds it. */
export function compilePolicy(rules: readonly SourcedRule[], principal: Principal): Policy {
  if (principal.owner) return everything
  const index = indexRules(rules)
  const onRecords = rememberByObject((rules: readonly SourcedRule[]) => permitOnRecords(rules, principal))
  const onAnything = rememberByObject((rules: readonly SourcedRule[]) =>
    permitOf(decideAmong(rules, principal, subjectsOfAttributes(principal, {}, []))),
  )
  const recordAccess = rememberByFields((action, typeKey, fields) =>
    compileRecordAccess(index.matching(action, typeKey), principal, typeKey, fields),
  )
  const decide: Policy['decide'] = (permission, resource, attributes, fields = []) => {
    const given = isRecordAction(permission) && resource !== '*' ? { object_type: resource, ...attributes } : attributes
    return decideAmong(index.matching(permission, resource), principal, subjectsOfAttributes(principal, given, fields))
  }
  const permitsOn: Policy['permits'] = (permission, resource = '*', attributes) => {
    if (attributes !== undefined) return permitOf(decide(permission, resource, attributes))
    return (isRecordAction(permission) ? onRecords : onAnything)(index.matching(permission, resource))
  }
  return Object.freeze({
    permits: permitsOn,
    permitsSomewhere: (permission) => ['*', ...index.keys(permission)].some((resource) => permitsOn(permission, resource) !== 'never'),
    decide,
    recordAccess,
    sources: [index],
  } satisfies Policy)
}

/** The policy of the owner and of the platform itself. */
const everything: Policy = Object.freeze({
  permits: () => 'always',
  permitsSomewhere: () => true,
  decide: () => ({ allowed: true, effect: 'allow', matched: null }),
  recordAccess: rememberByFields((_action, _typeKey, fields) => fullRecordAccess(fields)),
  sources: [],
} satisfies Policy)

/** A matching deny rule refuses; otherwise a matching allow rule allows; otherwise it is refused. Order does not matter. */
function decideAmong(rules: readonly SourcedRule[], principal: Principal, subjectOf: SubjectOf): Decision {
  const truthOf = ({ condition }: SourcedRule) => bindCondition(condition, principal, subjectOf).known
  const deny = rules.find((rule) => rule.effect === 'deny' && truthOf(rule) !== false)
  const matched = deny ?? rules.find((rule) => rule.effect === 'allow' && truthOf(rule) === true) ?? null
  return { allowed: matched?.effect === 'allow', effect: matched?.effect ?? 'deny', matched }
}

const permitOf = ({ allowed }: Decision): Permit => (allowed ? 'always' : 'never')

const permits = { all: 'always', some: 'sometimes', none: 'never' } as const satisfies Record<Verdict, Permit>

const permitOnRecords = (rules: readonly SourcedRule[], principal: Principal): Permit =>
  permits[verdictOf(rules.map((rule) => bindRule(rule, principal, subjectsOfAnyRecord(principal))))]

type MakeAccess = (action: RecordAction, typeKey: string, fields: readonly TestedField[]) => RecordAccess

/** Remembers per array of fields, so that what belonged to an old picture of a type goes with it. */
function rememberByFields(make: MakeAccess): MakeAccess {
  const ofFields = rememberByObject((_fields: readonly TestedField[]) => new Map<string, RecordAccess>())
  return (action, typeKey, fields) => {
    const kept = ofFields(fields)
    const access = kept.get(`${action} ${typeKey}`) ?? make(action, typeKey, fields)
    kept.set(`${action} ${typeKey}`, access)
    return access
  }
}
