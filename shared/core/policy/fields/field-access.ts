import { conditionSql } from '#shared/core/policy/conditions/condition.ts'
import type { TestedField } from '#shared/core/policy/conditions/tested-value.ts'
import { revealsField, revealsFieldTogether } from '#shared/core/policy/fields/field-mask.ts'
import type { BoundRule } from '#shared/core/policy/rules/bound-rule.ts'
import { joinSql, plainSql, type SqlText, sql } from '#shared/platform/db/statements/sql-text.ts'

/** The fields that a caller's allow rules show. */
interface FieldAccess {
  /** Fields that may be hidden in some record. Allow rules that never apply to this caller count too. */
  readonly hideable: ReadonlySet<string>
  /** Fields that no record shows; exports omit their columns. */
  readonly neverVisible: ReadonlySet<string>
  /** The visible fields of a record to which these rules apply. */
  readonly visible: (applying: readonly BoundRule[]) => ReadonlySet<string>
  /** SQL condition that shows the field of a readable row; undefined if it is always shown. */
  readonly visibilitySql: (key: string, alias?: string) => SqlText | undefined
  /** Names the rules in `visibilitySql` by their places among the rules that can apply. Equal names have equal SQL if the rules have. */
  readonly visibilityName: (key: string) => string
}

/** Maximum number of memoized field sets per access; beyond it the cache is cleared. */
const maxMemoized = 1_000

/** Computes which fields these allow rules show, each rule under its condition. */
export function compileFieldAccess(allows: readonly BoundRule[], fields: readonly TestedField[]): FieldAccess {
  const inputs = inputsOf(fields)
  const visible = memoizeByKey(
    (applying: readonly BoundRule[]) => [...new Set(applying.map(({ mask }) => mask.key))].sort().join('\n'),
    (applying): ReadonlySet<string> => {
      const masks = applying.map(({ mask }) => mask)
      return new Set(fields.map(({ key }) => key).filter((key) => inputs(key).every((input) => revealsFieldTogether(masks, input))))
    },
  )
  const granting = allows.filter(({ applies }) => applies !== 'never')
  const visibilityOf = (key: string) => [...new Map(inputs(key).flatMap((input) => shownWhere(granting, input))).values()]
  // A condition is in the SQL of each field that its rule hides or reveals.
  const conditionsOf = memoizeByKey(
    (alias: string | undefined) => alias ?? '',
    (alias) => granting.map(({ condition }) => conditionSql(condition, alias)),
  )
  return {
    visible,
    hideable: new Set(fields.map(({ key }) => key).filter((key) => inputs(key).some((input) => isHideable(allows, input)))),
    neverVisible: new Set(fields.map(({ key }) => key).filter((key) => inputs(key).some((input) => isNeverShown(granting, input)))),
    visibilitySql(key, alias) {
      const parts = visibilityOf(key)
      if (parts.length === 0) return undefined
      const conditionAt = (place: number): SqlText => conditionsOf(alias)[place] ?? plainSql('false')
      return joinSql(
        parts.map((part) => part.toSql(conditionAt)),
        'and',
      )
    },
    visibilityName: (key) =>
      visibilityOf(key)
        .map(({ name }) => name)
        .join(' '),
  }
}

/**
 * Returns a function from a field's key to this key and the keys of all fields that its formula reads, directly or through other formulas. A
 * caller that may not see an input may not see the result either. Inputs of a former formula count too while records still hold its results.
 */
export function inputsOf(fields: readonly TestedField[]): (key: string) => readonly string[] {
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

/**
 * Whether the field may be hidden in some record. It is never hidden if no rule denies it and, besides, all rules (at least one) reveal it
 * or a rule that always applies reveals it.
 */
function isHideable(allows: readonly BoundRule[], key: string): boolean {
  const revealing = allows.filter(({ mask }) => revealsField(mask, key))
  const safe = revealing.length > 0 && (revealing.length === allows.length || revealing.some(({ applies }) => applies === 'always'))
  return !safe || allows.some(({ mask }) => mask.denied.has(key))
}

/** Whether no rule reveals the field, or a rule that always applies denies it. */
const isNeverShown = (granting: readonly BoundRule[], key: string): boolean =>
  !granting.some(({ mask }) => revealsField(mask, key)) ||
  granting.some(({ applies, mask }) => applies === 'always' && mask.denied.has(key))

/** A part of the condition that shows a field. */
interface VisibilityPart {
  /** Equal parts have equal names. */
  readonly name: string
  /** Takes the conditions of rules by their places. */
  readonly toSql: (conditionAt: (place: number) => SqlText) => SqlText
}

/** The parts for one field, by name. */
function shownWhere(granting: readonly BoundRule[], key: string): [string, VisibilityPart][] {
  const placesWhere = (holds: (rule: BoundRule) => boolean) => granting.flatMap((rule, place) => (holds(rule) ? [place] : []))
  const hiding = placesWhere(({ mask }) => mask.denied.has(key))
  const revealing = placesWhere(({ mask }) => revealsField(mask, key))
  if (revealing.length === 0) return [named('never', () => plainSql('false'))]
  const parts = hiding.map((place) => named(`not ${place}`, (conditionAt) => sql`(${conditionAt(place)}) is not true`))
  if (revealing.length === granting.length || revealing.some((place) => granting[place]?.applies === 'always')) return parts
  return [...parts, named(`any ${revealing.join()}`, (conditionAt) => sql`(${joinSql(revealing.map(conditionAt), 'or')}) is true`)]
}

const named = (name: string, toSql: VisibilityPart['toSql']): [string, VisibilityPart] => [name, { name, toSql }]

function memoizeByKey<Input, Result>(keyOf: (input: Input) => string, make: (input: Input) => Result): (input: Input) => Result {
  const kept = new Map<string, Result>()
  return (input) => {
    const key = keyOf(input)
    const result = kept.get(key) ?? make(input)
    if (kept.size >= maxMemoized) kept.clear()
    kept.set(key, result)
    return result
  }
}
