import fc from 'fast-check'
import type { Condition, Filter } from '#shared/core/records/query/filter-tree.ts'

/** Conditions on a field, or on a property that every record has, with each of its operators. */
export function conditionsOn(field: string, operators: readonly string[], texts: readonly string[]): Condition[] {
  return operators.flatMap((op): Condition[] => {
    if (op === 'empty' || op === 'not_empty') return [{ field, op }]
    if (['in', 'not_in', 'has_any'].includes(op)) return [texts.slice(0, 1), texts].map((value) => ({ field, op, value }))
    return texts.map((value) => ({ field, op, value }))
  })
}

/** Random combinations of conditions, at most three around each other. */
export function filtersOf(conditions: readonly Condition[]): fc.Arbitrary<Filter> {
  const condition: fc.Arbitrary<Filter> = fc.constantFrom(...conditions)
  const around = (inner: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> => {
    const several = fc.array(inner, { maxLength: 3 })
    return fc.oneof(
      inner,
      several,
      several.map((all) => ({ all })),
      several.map((any) => ({ any })),
      inner.map((not) => ({ not })),
    )
  }
  return around(around(around(condition)))
}
