import { extractTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import { sampleValues } from '#shared/core/types/indexes/build-store.ts'
import type { IndexCandidate } from '#shared/core/types/indexes/plan-indexes.ts'
import { recordIndexSampled } from '#shared/core/types/indexes/store.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Session } from '#shared/platform/db/pool/session.ts'

/**
 * Samples values of a field with a trigram index and stores their common and frequent trigrams. Searches then query the index only for the
 * other trigrams of a text, if it has enough of them. Outdated or wrong lists do not change results.
 */
export async function sampleField(session: Session, { type, field, kind }: IndexCandidate, now: () => Date): Promise<void> {
  const { values, spread, characters } = thresholds.sample
  const percent = Math.min(100, (100 * values * spread) / Math.max(type.records, 1))
  const sample = { characters, percent, share: 1 / spread, most: 2 * values }
  const found = await session.query(sampleValues(schemaOf(type.workspaceId), type.key, field.column, sample))
  const { common, frequent } = countTrigrams(found.flatMap(({ value }) => value ?? []))
  await session.query(recordIndexSampled({ workspaceId: type.workspaceId, fieldId: field.id, kind, now: now(), common, frequent }))
}

/** Returns the common and the frequent trigrams of values. Each list is sorted, so that equal sets give equal lists. */
export function countTrigrams(values: readonly string[]): { readonly common: string[]; readonly frequent: string[] } {
  if (values.length < thresholds.sample.least) return { common: [], frequent: [] }
  const counts = new Map<string, number>()
  for (const value of values) for (const trigram of extractTrigrams(value)) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  const known = [...counts].filter(([, count]) => count >= thresholds.trigrams.frequent * values.length)
  known.sort(([, one], [, other]) => other - one)
  const most = known.slice(0, thresholds.trigrams.most)
  const isCommon = ([, count]: readonly [string, number]) => count >= thresholds.trigrams.common * values.length
  const sorted = (some: readonly (readonly [string, number])[]) => some.map(([trigram]) => trigram).sort()
  return { common: sorted(most.filter(isCommon)), frequent: sorted(most.filter((one) => !isCommon(one))) }
}
