import { namesOf, type Permission } from '#shared/access/permissions.ts'
import type { PolicyRule } from '#shared/access/policy.ts'

/** A caller's rules by permission and resource, conditions aside. Lists keep the rules' order and are the same array each time. */
export interface RuleIndex<Rule extends PolicyRule> {
  /** The rules whose actions and resources match; of resource `*`, every item, only rules on every item do. */
  readonly matching: (permission: Permission, resource: string) => readonly Rule[]
  /** The rules whose actions match, whatever their resources. */
  readonly naming: (permission: Permission) => readonly Rule[]
  /** The keys that those rules name; every other key is matched by the rules on every item alone. */
  readonly keys: (permission: Permission) => readonly string[]
}

/** Whether a rule is on every item (document 1, Policy rule). */
export const isOnEveryItem = ({ resources }: PolicyRule): boolean =>
  !resources || resources === '*' || resources.length === 0 || resources.includes('*')

/** Whether a rule is on this item; `*` asks for every item. */
export const isOn = (rule: PolicyRule, resource: string): boolean => isOnEveryItem(rule) || (rule.resources?.includes(resource) ?? false)

interface Entry<Rule> {
  readonly all: readonly Rule[]
  readonly everywhere: readonly Rule[]
  readonly byKey: ReadonlyMap<string, readonly Rule[]>
}

/** Indexes rules once; a permission's part is sorted out when it is first asked for. */
export function indexRules<Rule extends PolicyRule>(rules: readonly Rule[]): RuleIndex<Rule> {
  const byAction = new Map<string, number[]>()
  for (const [position, { actions }] of rules.entries()) {
    for (const action of new Set<string>(actions)) {
      const positions = byAction.get(action)
      if (positions) positions.push(position)
      else byAction.set(action, [position])
    }
  }
  const entries = new Map<Permission, Entry<Rule>>()
  const entryOf = (permission: Permission): Entry<Rule> => {
    const kept = entries.get(permission)
    if (kept) return kept
    const positions = [...new Set(namesOf(permission).flatMap((action) => byAction.get(action) ?? []))].sort(
      (first, second) => first - second,
    )
    const entry = sortOut(positions.flatMap((position) => rules[position] ?? []))
    entries.set(permission, entry)
    return entry
  }
  return Object.freeze({
    matching(permission, resource) {
      const { everywhere, byKey } = entryOf(permission)
      return byKey.get(resource) ?? everywhere
    },
    naming: (permission) => entryOf(permission).all,
    keys: (permission) => [...entryOf(permission).byKey.keys()],
  } satisfies RuleIndex<Rule>)
}

/** Every key that a rule names gets its own list, so a look-up is one step however many rules there are. */
function sortOut<Rule extends PolicyRule>(all: readonly Rule[]): Entry<Rule> {
  const everywhere = all.filter(isOnEveryItem)
  const named = new Map<string, Rule[]>()
  const byKey = new Map<string, readonly Rule[]>()
  const place = new Map(all.map((rule, index) => [rule, index]))
  for (const rule of all) {
    if (isOnEveryItem(rule)) continue
    for (const key of new Set(rule.resources)) {
      const list = named.get(key)
      if (list) list.push(rule)
      else named.set(key, [rule])
    }
  }
  for (const [key, list] of named) {
    byKey.set(
      key,
      [...everywhere, ...list].sort((first, second) => (place.get(first) ?? 0) - (place.get(second) ?? 0)),
    )
  }
  return { all, everywhere, byKey }
}
