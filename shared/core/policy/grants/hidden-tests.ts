import { conditionKey, dependsOnHolder, testedFields } from '#shared/core/policy/conditions/condition.ts'
import type { Policy, TestedField } from '#shared/core/policy/evaluate.ts'
import { isRecordAction, permissionsOf } from '#shared/core/policy/permissions.ts'
import { appliesToEveryItem } from '#shared/core/policy/rules/rule-index.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Fields by the key of their record type. */
type FieldsByType = ReadonlyMap<string, readonly TestedField[]>

/** Keys of the fields that the conditions of rules on records test. */
export const fieldsTestedBy = (rules: readonly PolicyRule[]): string[] => [...new Set(rules.filter(isOnRecords).flatMap(testedFields))]

/**
 * Checks that these rules test only fields that the granter reads in every record: otherwise a holder of the rules finds out a hidden value
 * by counting the records that pass. Returns a FORBIDDEN that names the first other field, or undefined. A condition that stands in a rule
 * of the granter's own passes, since the granter sees its result already, unless it names the caller
 * (docs/contract/access.md#given-conditions). `fieldsByType` has the types that have fields of `fieldsTestedBy`.
 */
export function findHiddenTest(granter: Policy, rules: readonly PolicyRule[], fieldsByType: FieldsByType): Problem | undefined {
  for (const [index, rule] of rules.entries()) {
    const keys = isOnRecords(rule) ? testedFields(rule) : []
    const types = keys.length > 0 ? typesOf(rule, granter, fieldsByType) : []
    for (const type of types) {
      const hidden = keys.find((key) => !readsEverywhere(granter, type, key, fieldsByType.get(type) ?? []))
      if (hidden === undefined || hasCondition(granter, type, rule)) continue
      const records = type === '*' ? 'every record type' : type
      return problem('FORBIDDEN', `policy[${index}] tests resource.${hidden}, which you do not read in every record of ${records}`)
    }
  }
  return undefined
}

const isOnRecords = ({ actions }: PolicyRule): boolean => actions.flatMap(permissionsOf).some(isRecordAction)

/** The types to which a rule applies; `*` stands for those that no rule names, also in the future. */
function typesOf(rule: PolicyRule, granter: Policy, fieldsByType: FieldsByType): Iterable<string> {
  if (!appliesToEveryItem(rule)) return new Set(rule.resources)
  const named = granter.ruleIndexes.flatMap((index) => [...index.keys('records:read')])
  return new Set(['*', ...named, ...fieldsByType.keys()])
}

/** A field that the type does not have yet is judged by its key. */
function readsEverywhere(granter: Policy, type: string, key: string, fields: readonly TestedField[]): boolean {
  const known = fields.some((field) => field.key === key) ? fields : [...fields, { key, type: 'string', column: key } as const]
  const { verdict, hideable } = granter.recordAccess('records:read', type, known)
  return verdict === 'all' && !hideable.has(key)
}

/** Whether a rule of the granter on the records of this type has the same condition. */
const hasCondition = ({ ruleIndexes }: Policy, type: string, rule: PolicyRule): boolean =>
  !dependsOnHolder(rule) &&
  ruleIndexes.every((index) =>
    permissionsOf('records:*').some((permission) =>
      index.matching(permission, type).some((own) => conditionKey(own) === conditionKey(rule)),
    ),
  )
