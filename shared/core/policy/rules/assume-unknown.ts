import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/**
 * The rules for records of which some fields are unknown. A test of such a field fails in an allow rule, so the rule is left out, and
 * passes in a deny rule, whose other tests decide. What the mask of an omitted rule denies stays hidden, since the rule may match.
 */
export function assumeUnknown<Rule extends PolicyRule>(rules: readonly Rule[], unknown: ReadonlySet<string>): Rule[] {
  const isUnknown = (tested: string) => tested.startsWith('resource.') && unknown.has(tested.slice('resource.'.length))
  const testsUnknown = ({ condition }: Rule) => Object.keys(condition ?? {}).some(isUnknown)
  const hidden = rules.flatMap((rule) => (rule.effect === 'allow' && testsUnknown(rule) ? (rule.fields?.deny ?? []) : []))
  return rules.flatMap((rule) => {
    if (!testsUnknown(rule)) return [rule.effect === 'allow' && hidden.length > 0 ? withDenied(rule, hidden) : rule]
    if (rule.effect === 'allow') return []
    const known = Object.entries(rule.condition ?? {}).filter(([tested]) => !isUnknown(tested))
    return [{ ...rule, condition: Object.fromEntries(known) }]
  })
}

const withDenied = <Rule extends PolicyRule>(rule: Rule, keys: readonly string[]): Rule => ({
  ...rule,
  fields: { ...rule.fields, deny: [...(rule.fields?.deny ?? []), ...keys] },
})
