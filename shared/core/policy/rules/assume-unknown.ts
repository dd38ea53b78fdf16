import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/**
 * The rules for records of which some fields are unknown. A test of such a field fails in an allow rule, so the rule is left out, and
 * passes in a deny rule, whose other tests decide.
 */
export function assumeUnknown<Rule extends PolicyRule>(rules: readonly Rule[], unknown: ReadonlySet<string>): Rule[] {
  const isUnknown = (tested: string) => tested.startsWith('resource.') && unknown.has(tested.slice('resource.'.length))
  return rules.flatMap((rule) => {
    const tests = Object.entries(rule.condition ?? {})
    if (!tests.some(([tested]) => isUnknown(tested))) return [rule]
    if (rule.effect === 'allow') return []
    return [{ ...rule, condition: Object.fromEntries(tests.filter(([tested]) => !isUnknown(tested))) }]
  })
}
