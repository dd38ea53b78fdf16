import { actionsNaming, type Permission } from '#shared/core/policy/permissions.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/** Rules by permission and resource; conditions are ignored. Lists keep the rules' order, and repeated calls return the same array. */
export interface RuleIndex<Rule extends PolicyRule> {
  /** The rules whose actions and resources match. Resource `*` (every item) matches only rules on every item. */
  readonly matching: (permission: Permission, resource: string) => readonly Rule[]
  /** The resource keys that rules of this permission name. Only rules on every item match any other key. */
  readonly keys: (permission: Permission) => Iterable<string>
}

/** Whether a rule applies to every item (docs/contract/access.md#rules). */
export const appliesToEveryItem = ({ resources }: PolicyRule): boolean =>
  !resources || resources === '*' || resources.length === 0 || resources.includes('*')

/**
 * Indexes rules. The rules of a permission are grouped on first use and shared by permissions with the same matching actions, so a lookup
 * among thousands of rules reads only those that can match.
 */
export function indexRules<Rule extends PolicyRule>(rules: readonly Rule[]): RuleIndex<Rule> {
  const byAction = Map.groupBy(
    rules.flatMap((rule, position) => [...new Set<string>(rule.actions)].map((action) => ({ action, position }))),
    ({ action }) => action,
  )
  const parts = new Map<string, Part<Rule>>()
  const partOf = (permission: Permission): Part<Rule> => {
    const actions = actionsNaming(permission).filter((action) => byAction.has(action))
    const name = actions.join(' ')
    const positions = () => new Set(actions.flatMap((action) => byAction.get(action) ?? []).map(({ position }) => position))
    const part = parts.get(name) ?? groupByResource(rules, positions())
    parts.set(name, part)
    return part
  }
  return Object.freeze({
    matching(permission, resource) {
      const part = partOf(permission)
      return part.named.has(resource) ? part.matching(resource) : part.everywhere
    },
    keys: (permission) => partOf(permission).named.keys(),
  } satisfies RuleIndex<Rule>)
}

interface Part<Rule> {
  readonly everywhere: readonly Rule[]
  readonly named: ReadonlyMap<string, readonly number[]>
  /** The rules that match a key of `named`. */
  readonly matching: (key: string) => readonly Rule[]
}

function groupByResource<Rule extends PolicyRule>(rules: readonly Rule[], positions: ReadonlySet<number>): Part<Rule> {
  const everywhere: number[] = []
  const named = new Map<string, number[]>()
  for (const position of [...positions].sort((first, second) => first - second)) {
    const rule = rules[position]
    if (!rule) continue
    if (appliesToEveryItem(rule)) everywhere.push(position)
    else for (const key of new Set(rule.resources)) listOf(named, key).push(position)
  }
  const rulesAt = (all: readonly number[]): Rule[] => all.flatMap((position) => rules[position] ?? [])
  const matchingByKey = new Map<string, readonly Rule[]>()
  const matching = (key: string): readonly Rule[] => {
    const list = matchingByKey.get(key) ?? rulesAt([...everywhere, ...(named.get(key) ?? [])].sort((first, second) => first - second))
    matchingByKey.set(key, list)
    return list
  }
  return { everywhere: rulesAt(everywhere), named, matching }
}

function listOf(lists: Map<string, number[]>, key: string): number[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
