import type { Decision, Permit, Policy } from '#shared/core/policy/evaluate.ts'
import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { joinWithAnd, type Knex } from '#shared/platform/db/statements/builder.ts'

/**
 * The intersection of two callers' rights. A function that a flow, a queue button or a form runs has the rights held both by its author
 * and by the caller who triggered it (docs/contract/functions.md#rights-of-a-run). Each caller's rules are tested with its own id.
 */
export function intersectPolicies(first: Policy, second: Policy): Policy {
  if (first === second || second.ruleIndexes.length === 0) return first
  if (first.ruleIndexes.length === 0) return second
  return Object.freeze({
    permits: (...question) => lowerPermit(first.permits(...question), second.permits(...question)),
    denies: (...question) => first.denies(...question) || second.denies(...question),
    permitsAll: (permission) => first.permitsAll(permission) && second.permitsAll(permission),
    permitsSomewhere: (permission) => first.permitsSomewhere(permission) && second.permitsSomewhere(permission),
    decide: (...question) => refusalOr(first.decide(...question), () => second.decide(...question)),
    recordAccess: (...question) => intersectRecordAccess(first.recordAccess(...question), second.recordAccess(...question)),
    recordAccessWithout: (...question) =>
      intersectRecordAccess(first.recordAccessWithout(...question), second.recordAccessWithout(...question)),
    ruleIndexes: [...first.ruleIndexes, ...second.ruleIndexes],
  } satisfies Policy)
}

const refusalOr = (first: Decision, second: () => Decision): Decision => (first.allowed ? second() : first)

const permits = ['never', 'sometimes', 'always'] as const satisfies readonly Permit[]
const verdicts = ['none', 'some', 'all'] as const satisfies readonly RecordAccess['verdict'][]

const lowerPermit = (first: Permit, second: Permit): Permit => minimumOf(permits, first, second)
const minimumOf = <T>(scale: readonly T[], first: T, second: T): T => (scale.indexOf(first) < scale.indexOf(second) ? first : second)

/** The intersection of two accesses to the records of one type, for two actions or two callers. */
export function intersectRecordAccess(first: RecordAccess, second: RecordAccess): RecordAccess {
  return Object.freeze({
    verdict: minimumOf(verdicts, first.verdict, second.verdict),
    test: (record) => first.test(record) && second.test(record),
    where: (alias) => joinOptional(first.where(alias), second.where(alias)),
    limitingRoles: [...new Set([...first.limitingRoles, ...second.limitingRoles])],
    searchColumns: first.searchColumns.union(second.searchColumns),
    alwaysVisible: first.alwaysVisible && second.alwaysVisible,
    hideable: first.hideable.union(second.hideable),
    neverVisible: first.neverVisible.union(second.neverVisible),
    visibleFields: (record) => first.visibleFields(record).intersection(second.visibleFields(record)),
    fieldWhere: (key, alias) => joinOptional(first.fieldWhere(key, alias), second.fieldWhere(key, alias)),
    get signature() {
      return `${first.signature} ${second.signature}`
    },
  } satisfies RecordAccess)
}

const joinOptional = (first: Knex.Raw | undefined, second: Knex.Raw | undefined): Knex.Raw | undefined =>
  first && second ? joinWithAnd([first, second]) : (first ?? second)
