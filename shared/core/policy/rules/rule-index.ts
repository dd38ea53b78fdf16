import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import { actionsNaming, type Permission } from '#shared/core/policy/permissions.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'

/** Rules by permission and resource; conditions are ignored. Lists keep the rules' order, and repeated calls return the same array. */
export interface RuleIndex<Rule extends PolicyRule> {
  /** The rules whose actions and resources match. Resource `*` (every item) matches only rules on every item. */
  readonly matching: (permission: Permission, resource: string) => readonly Rule[]
  /** The resource keys that rules of this permission name. Only rules on every item match any other key. */
  readonly keys: (permission: Permission) => Iterable<string>
  /** For each key, the rules of this permission that name it; keys that the same rules name have one list together. */
  readonly namedLists: (permission: Permission) => readonly (readonly Rule[])[]
}

/** Whether a rule applies to every item (docs/contract/access.md#rules). */
export const appliesToEveryItem = ({ resources }: PolicyRule): boolean =>
  !resources || resources === '*' || resources.length === 0 || resources.includes('*')

/**
 * Indexes rules. The rules of a permission are grouped on first use and shared by permissions with the same matching actions. Keys that the
 * same rules name share one list (docs/decisions/sizes-of-rules.md).
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
      const { everywhere, named, matching } = partOf(permission)
      const positions = named.get(resource)
      return positions ? matching(positions) : everywhere
    },
    keys: (permission) => partOf(permission).named.keys(),
    namedLists: (permission) => partOf(permission).namedLists(),
  } satisfies RuleIndex<Rule>)
}

interface Part<Rule> {
  readonly everywhere: readonly Rule[]
  /** By key, the positions of the rules that name it; keys that the same rules name share one array. */
  readonly named: ReadonlyMap<string, readonly number[]>
  /** The rules at such positions and those on every item. */
  readonly matching: (named: readonly number[]) => readonly Rule[]
  readonly namedLists: () => readonly (readonly Rule[])[]
}

function groupByResource<Rule extends PolicyRule>(rules: readonly Rule[], positions: ReadonlySet<number>): Part<Rule> {
  const rulesAt = (all: readonly number[]): Rule[] => all.flatMap((position) => rules[position] ?? [])
  const everywhere: number[] = []
  const named = new Map<string, number[]>()
  for (const position of [...positions].sort(ascending)) {
    const rule = rules[position]
    if (!rule) continue
    if (appliesToEveryItem(rule)) everywhere.push(position)
    else for (const key of new Set(rule.resources)) addTo(named, key, position)
  }
  const shared = new Map<string, number[]>()
  for (const [key, list] of named) {
    const name = list.join()
    const known = shared.get(name)
    if (known) named.set(key, known)
    else shared.set(name, list)
  }
  const matching = memoizeByObject((list: readonly number[]) => rulesAt([...everywhere, ...list].sort(ascending)))
  return { everywhere: rulesAt(everywhere), named, matching, namedLists: () => [...shared.values()].map(rulesAt) }
}

function addTo(lists: Map<string, number[]>, key: string, position: number): void {
  const list = lists.get(key)
  if (list) list.push(position)
  else lists.set(key, [position])
}

const ascending = (first: number, second: number): number => first - second
