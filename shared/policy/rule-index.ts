import { namesOf, type Permission } from '#shared/policy/permissions.ts'
import type { PolicyRule } from '#shared/policy/policy.ts'

/** Rules by permission and resource, conditions aside. Lists keep the rules' order and are the same array each time. */
export interface RuleIndex<Rule extends PolicyRule> {
  /** The rules whose actions and resources match; of resource `*`, every item, only rules on every item do. */
  readonly matching: (permission: Permission, resource: string) => readonly Rule[]
  /** The keys that rules of this permission name; every other key is matched by the rules on every item alone. */
  readonly keys: (permission: Permission) => Iterable<string>
}

/** Whether a rule is on every item (document 1, Policy rule). */
export const isOnEveryItem = ({ resources }: PolicyRule): boolean =>
  !resources || resources === '*' || resources.length === 0 || resources.includes('*')

/**
 * Indexes rules once. The part of a permission is sorted out when it is first asked for, and shared by the permissions that the same
 * actions name: of fifty thousand rules a question looks at those that it can match.
 */
export function indexRules<Rule extends PolicyRule>(rules: readonly Rule[]): RuleIndex<Rule> {
  const byAction = Map.groupBy(
    rules.flatMap((rule, position) => [...new Set<string>(rule.actions)].map((action) => ({ action, position }))),
    ({ action }) => action,
  )
  const parts = new Map<string, Part<Rule>>()
  const partOf = (permission: Permission): Part<Rule> => {
    const actions = namesOf(permission).filter((action) => byAction.has(action))
    const name = actions.join(' ')
    const positions = () => new Set(actions.flatMap((action) => byAction.get(action) ?? []).map(({ position }) => position))
    const part = parts.get(name) ?? sortOut(rules, positions())
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

function sortOut<Rule extends PolicyRule>(rules: readonly Rule[], positions: ReadonlySet<number>): Part<Rule> {
  const everywhere: number[] = []
  const named = new Map<string, number[]>()
  for (const position of [...positions].sort((first, second) => first - second)) {
    const rule = rules[position]
    if (!rule) continue
    if (isOnEveryItem(rule)) everywhere.push(position)
    else for (const key of new Set(rule.resources)) listOf(named, key).push(position)
  }
  const rulesAt = (all: readonly number[]): Rule[] => all.flatMap((position) => rules[position] ?? [])
  const kept = new Map<string, readonly Rule[]>()
  const matching = (key: string): readonly Rule[] => {
    const list = kept.get(key) ?? rulesAt([...everywhere, ...(named.get(key) ?? [])].sort((first, second) => first - second))
    kept.set(key, list)
    return list
  }
  return { everywhere: rulesAt(everywhere), named, matching }
}

function listOf(lists: Map<string, number[]>, key: string): number[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
