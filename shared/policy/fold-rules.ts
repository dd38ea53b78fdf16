import type { BoundRule } from '#shared/policy/bound-rule.ts'
import { amongTest, type OpenTest } from '#shared/policy/condition.ts'

/**
 * The same rules, fewer: those that differ only in which value a field must have become one that asks for any of them. Somebody in a
 * thousand roles may hold tens of thousands of such rules; one by one each would be a parameter of every statement.
 */
export function foldRules(rules: readonly BoundRule[]): readonly BoundRule[] {
  const groups = Map.groupBy(rules, (rule) => foldKey(rule) ?? rule)
  return [...groups.values()].flatMap((group) => (group.length > 1 ? folded(group) : group))
}

type Among = NonNullable<OpenTest['among']>

/** What a rule asks about, when that is one thing alone. */
function amongOf({ condition: { known, open }, applies }: BoundRule): Among | undefined {
  return applies === 'varies' && known === true && open.length === 1 ? open[0]?.among : undefined
}

function foldKey(rule: BoundRule): string | undefined {
  const among = amongOf(rule)
  return among && `${rule.effect} ${rule.mask.key} ${among.subject.column}`
}

function folded(group: readonly BoundRule[]): BoundRule[] {
  const [first] = group
  const all = group.flatMap((rule) => amongOf(rule) ?? [])
  const subject = all[0]?.subject
  if (!first || !subject) return [...group]
  const test = amongTest(
    subject,
    all.flatMap(({ values }) => values),
  )
  return [{ ...first, condition: { known: true, open: [test] } }]
}
