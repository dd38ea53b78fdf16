import { builder } from '#shared/db/builder.ts'
import type { Session } from '#shared/db/session.ts'
import { build } from '#shared/db/statement.ts'
import { lowerCaseOf } from '#shared/policy/letter-case.ts'
import { trigramsOf } from '#shared/types/fields/trigrams.ts'
import { noteSampled } from '#shared/types/indexes/index-store.ts'
import type { Wish } from '#shared/types/indexes/plan.ts'
import { thresholds } from '#shared/types/indexes/thresholds.ts'
import { schemaOf } from '#shared/types/tables.ts'

/**
 * Looks at some values of a field that has a trigram index, and notes what trigrams many of them have: searches then ask the index for the
 * others, as far as there are enough. They find the same with lists that are old or wrong.
 */
export async function sampleField(session: Session, { type, field, kind }: Wish, now: () => Date): Promise<void> {
  const { values, spread, characters } = thresholds.sample
  const percent = Math.min(100, (100 * values * spread) / Math.max(type.records, 1))
  const found = await session.query<{ readonly value: string }>(
    build(
      builder.raw('select ? as value from ??.?? tablesample system (?::real) where ?? is not null and random() < ? limit ?', [
        lowerCaseOf(builder.raw('left(??, ?)', [field.column, characters])),
        schemaOf(type.workspaceId),
        type.key,
        percent,
        field.column,
        1 / spread,
        2 * values,
      ]),
    ),
  )
  const { common, frequent } = countTrigrams(found.map(({ value }) => value))
  await session.query(noteSampled(type.workspaceId, field.id, kind, now(), common, frequent))
}

/** The common and the frequent trigrams of values; each list is sorted, so that the same trigrams are the same list. */
export function countTrigrams(values: readonly string[]): { readonly common: string[]; readonly frequent: string[] } {
  if (values.length < thresholds.sample.least) return { common: [], frequent: [] }
  const counts = new Map<string, number>()
  for (const value of values) for (const trigram of trigramsOf(value)) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  const known = [...counts].filter(([, count]) => count >= thresholds.trigrams.frequent * values.length)
  known.sort(([, one], [, other]) => other - one)
  const most = known.slice(0, thresholds.trigrams.most)
  const isCommon = ([, count]: readonly [string, number]) => count >= thresholds.trigrams.common * values.length
  const sorted = (some: readonly (readonly [string, number])[]) => some.map(([trigram]) => trigram).sort()
  return { common: sorted(most.filter(isCommon)), frequent: sorted(most.filter((one) => !isCommon(one))) }
}
