import { operators } from '#shared/core/policy/conditions/operators.ts'
import { isTestable } from '#shared/core/policy/conditions/tested-value.ts'
import { permissionsOf } from '#shared/core/policy/permissions.ts'
import { type PolicyRule, policySchema } from '#shared/core/policy/schemas.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'

/**
 * Parses the rules that a caller sent for a role. Throws VALIDATION_ERROR that names the rule, counted from 0, and the error. Unknown names
 * and keys are refused: ignoring one would change the meaning of the rule.
 */
export function parsePolicy(value: unknown): PolicyRule[] {
  const rules = policySchema.parse(Array.isArray(value) ? value.map(withoutNulls) : value, 'policy')
  for (const [index, rule] of rules.entries()) checkRule(rule, `policy[${index}]`)
  return rules
}

/** A null key equals an absent key. */
const withoutNulls = (rule: unknown): unknown =>
  typeof rule === 'object' && rule !== null && !Array.isArray(rule)
    ? Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== null))
    : rule

const invalidRule = (path: string, reason: string): Problem => problem('VALIDATION_ERROR', `${path}: ${reason}`)

function checkRule(rule: PolicyRule, path: string): void {
  refuseUnknownKeys(rule, ['effect', 'actions', 'resources', 'condition', 'fields'], path)
  refuseUnknownKeys(rule.fields ?? {}, ['allow', 'deny'], `${path}.fields`)
  for (const action of rule.actions) {
    if (permissionsOf(action).length === 0) throw invalidRule(`${path}.actions`, `there is no permission ${quote(action)}`)
  }
  for (const [tested, test] of Object.entries(rule.condition ?? {})) checkTest(tested, test, `${path}.condition`)
}

function checkTest(tested: string, test: Readonly<Record<string, unknown>>, path: string): void {
  if (!isTestable(tested)) throw invalidRule(path, `${quote(tested)} cannot be tested; use ${testableValues}`)
  const entries = Object.entries(test)
  if (entries.length === 0) throw invalidRule(path, `${tested} needs at least one test of ${names}`)
  for (const [name, operand] of entries) {
    const operator = operators.get(name)
    if (!operator) throw invalidRule(path, `${tested} has no test ${quote(name)}; use ${names}`)
    const reason = operator.explainInvalid(operand)
    if (reason !== undefined) throw invalidRule(path, `${tested} ${name} ${reason}`)
  }
}

function refuseUnknownKeys(object: object, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key))
  if (unknown !== undefined) throw invalidRule(path, `there is no key ${quote(unknown)}; use ${known.join(', ')}`)
}

const names = [...operators.keys()].join(', ')
const testableValues =
  'resource.<field key>, resource.owner, resource.created_at, resource.object_type, resource.id, principal.id or principal.type'
const quote = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)
