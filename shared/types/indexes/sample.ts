import { lowerCaseOf } from '#shared/access/letter-case.ts'
import { builder } from '#shared/db/builder.ts'
import type { Session } from '#shared/db/session.ts'
import { build } from '#shared/db/statement.ts'
import { trigramsOf } from '#shared/types/fields/trigrams.ts'
import { noteSampled } from '#shared/types/indexes/index-store.ts'
import type { Wish } from '#shared/types/indexes/plan.ts'
import { thresholds } from '#shared/types/indexes/thresholds.ts'
import { schemaOf } from '#shared/types/tables.ts'

/**
 * Looks at some values of a field that has a trigram index, and notes what trigrams nearly all of them have: searches then ask the index
 * for the others alone. They find the same with a list that is old or wrong.
 */
export async function sampleField(session: Session, { type, field, kind }: Wish, now: () => Date): Promise<void> {
  const { values, characters } = thresholds.sample
  const percent = Math.min(100, (100 * values) / Math.max(type.records, 1))
  const found = await session.query<{ readonly value: string }>(
    build(
      builder.raw('select ? as value from ??.?? tablesample system (?::real) where ?? is not null limit ?', [
        lowerCaseOf(builder.raw('left(??, ?)', [field.column, characters])),
        schemaOf(type.workspaceId),
        type.key,
        percent,
        field.column,
        2 * values,
      ]),
    ),
  )
  const common = commonTrigrams(found.map(({ value }) => value))
  await session.query(noteSampled(type.workspaceId, field.id, kind, now(), common))
}

/** The trigrams that nearly all of the values have, sorted, so that the same are the same list; of very many the most common. */
export function commonTrigrams(values: readonly string[]): string[] {
  if (values.length < thresholds.sample.least) return []
  const counts = new Map<string, number>()
  for (const value of values) for (const trigram of trigramsOf(value)) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  const common = [...counts].filter(([, count]) => count >= thresholds.common.share * values.length)
  common.sort(([, one], [, other]) => other - one)
  const kept = common.slice(0, thresholds.common.trigrams).map(([trigram]) => trigram)
  return kept.sort()
}
