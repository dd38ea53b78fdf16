import { builder, type Knex } from '#shared/db/builder.ts'
import type { BoundRule } from '#shared/policy/bound-rule.ts'
import { allOf, anyOf, conditionWhere } from '#shared/policy/condition.ts'
import { reveals, revealTogether } from '#shared/policy/field-mask.ts'
import type { TestedField } from '#shared/policy/tested-value.ts'

/** Which fields a caller's allow rules show. */
export interface FieldAccess {
  /** Fields that some rule could hide, whatever its condition. */
  readonly hideable: ReadonlySet<string>
  /** Fields that no record shows: they are not even a column. */
  readonly neverVisible: ReadonlySet<string>
  /** The fields shown of a record to which these of the rules apply. */
  readonly visible: (applying: readonly BoundRule[]) => ReadonlySet<string>
  /** The condition under which the field of a readable row is shown; undefined when it always is. */
  readonly where: (key: string, alias?: string) => Knex.Raw | undefined
}

/** Different sets of fields that one access remembers; past that it starts afresh. */
const maxRemembered = 1_000

/** Works out the fields that allow rules show, together and each by its condition. */
export function fieldAccess(allows: readonly BoundRule[], fields: readonly TestedField[]): FieldAccess {
  const inputs = inputsOf(fields)
  const visible = rememberBy(
    (applying: readonly BoundRule[]) => [...new Set(applying.map(({ mask }) => mask.key))].sort().join('\n'),
    (applying): ReadonlySet<string> => {
      const masks = applying.map(({ mask }) => mask)
      return new Set(fields.map(({ key }) => key).filter((key) => inputs(key).every((input) => revealTogether(masks, input))))
    },
  )
  const granting = allows.filter(({ applies }) => applies !== 'never')
  return {
    visible,
    hideable: new Set(fields.map(({ key }) => key).filter((key) => inputs(key).some((input) => isHideable(allows, input)))),
    neverVisible: new Set(fields.map(({ key }) => key).filter((key) => inputs(key).some((input) => isNeverShown(granting, input)))),
    where(key, alias) {
      const parts = new Map(inputs(key).flatMap((input) => shownWhere(granting, input, alias)))
      return parts.size === 0 ? undefined : allOf([...parts.values()])
    },
  }
}

/**
 * Each field with all that its formula reads, through other formulas too: who may not read one of those may not read the result. One of
 * them may be gone, while values that were made of it are still there.
 */
function inputsOf(fields: readonly TestedField[]): (key: string) => readonly string[] {
  const reads = new Map(fields.map((field) => [field.key, [...(field.reads ?? []), ...(field.staleReads ?? [])]]))
  const found = new Map<string, readonly string[]>()
  return (key) => {
    const kept = found.get(key)
    if (kept) return kept
    const inputs = new Set([key])
    for (const input of inputs) for (const read of reads.get(input) ?? []) inputs.add(read)
    found.set(key, [...inputs])
    return [...inputs]
  }
}

/** A field is safe from hiding when no rule denies it, and every rule reveals it or one that always applies does. */
function isHideable(allows: readonly BoundRule[], key: string): boolean {
  const revealing = allows.filter(({ mask }) => reveals(mask, key))
  const safe = revealing.length > 0 && (revealing.length === allows.length || revealing.some(({ applies }) => applies === 'always'))
  return !safe || allows.some(({ mask }) => mask.denied.has(key))
}

/** No rule reveals the field, or one that always applies denies it. */
const isNeverShown = (granting: readonly BoundRule[], key: string): boolean =>
  !granting.some(({ mask }) => reveals(mask, key)) || granting.some(({ applies, mask }) => applies === 'always' && mask.denied.has(key))

/** The conditions of one field, each with a key that is the same for the same condition. */
function shownWhere(granting: readonly BoundRule[], key: string, alias: string | undefined): [string, Knex.Raw][] {
  const hiding = granting.filter(({ mask }) => mask.denied.has(key))
  const revealing = granting.filter(({ mask }) => reveals(mask, key))
  const parts: [string, Knex.Raw][] = hiding.map((rule) => [
    `not ${granting.indexOf(rule)}`,
    builder.raw('(?) is not true', [conditionWhere(rule.condition, alias)]),
  ])
  if (revealing.length === 0) return [['never', builder.raw('false')]]
  if (revealing.length === granting.length || revealing.some(({ applies }) => applies === 'always')) return parts
  const shown = anyOf(revealing.map(({ condition }) => conditionWhere(condition, alias)))
  return [...parts, [`any ${revealing.map((rule) => granting.indexOf(rule)).join()}`, builder.raw('(?) is true', [shown])]]
}

function rememberBy<Input, Result>(keyOf: (input: Input) => string, make: (input: Input) => Result): (input: Input) => Result {
  const kept = new Map<string, Result>()
  return (input) => {
    const key = keyOf(input)
    const result = kept.get(key) ?? make(input)
    if (kept.size >= maxRemembered) kept.clear()
    kept.set(key, result)
    return result
  }
}
