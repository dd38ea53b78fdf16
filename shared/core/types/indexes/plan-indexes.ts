import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { FieldUse } from '#shared/core/types/indexes/count-use.ts'
import { allIndexKinds, type IndexKindName, indexKinds, usesServedByField } from '#shared/core/types/indexes/index-kinds.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { ScoredUse, StoredIndex, UsedField, UsedType } from '#shared/core/types/indexes/used-types.ts'

/** An index that a field has or could have, and how much it is worth. */
export interface IndexCandidate {
  readonly type: UsedType
  readonly field: UsedField
  readonly kind: IndexKindName
  readonly uses: readonly ScoredUse[]
  readonly score: number
  /** Null when nothing that it serves was ever used. */
  readonly usedAt: Date | null
  /** What there is of it already. */
  readonly index: StoredIndex | undefined
  /** Whether it should be there. */
  readonly isChosen: boolean
}

/** Every index of a type that is there or asked for, those worth most first. */
export function findIndexCandidates(type: UsedType, now: Date): IndexCandidate[] {
  const searched = type.fields.filter((field) => fieldKinds[field.type].isText).length
  const wishes = type.fields.flatMap((field) => wishesFor(type, field, searched <= thresholds.searchedFields))
  const weigh = ({ score, index }: IndexCandidate) => score * (index?.state === 'ready' ? thresholds.favour : 1)
  const worthy = wishes
    .filter((wish) => (wish.index?.state === 'ready' ? staysFor(wish, now) : wish.score >= requiredScore(type.records)))
    .sort((one, other) => weigh(other) - weigh(one))
  const chosen = new Set(worthy.slice(0, thresholds.perType))
  return wishes.map((wish) => ({ ...wish, isChosen: chosen.has(wish) })).sort((one, other) => other.score - one.score)
}

/** What is to be done about a wish. */
export interface IndexStep {
  readonly action: 'build' | 'drop' | 'sample'
  readonly candidate: IndexCandidate
}

/** What is to be done now, the most useful first; what failed waits for its time. */
export function planIndexSteps(types: readonly UsedType[], now: Date): IndexStep[] {
  const open = types.flatMap((type) => findIndexCandidates(type, now)).filter(({ index }) => !index?.retryAt || index.retryAt <= now)
  const builds = open.filter(({ isChosen, index }) => isChosen && index?.state !== 'ready')
  const drops = open.filter(({ isChosen, index }) => !isChosen && index)
  const saved = ({ score, type }: IndexCandidate) => score * type.records
  builds.sort((one, other) => saved(other) - saved(one))
  const samples = open.filter((wish) => wish.isChosen && isSampleDue(wish, now))
  const stepOf = (action: IndexStep['action']) => (candidate: IndexCandidate) => ({ action, candidate })
  return [...builds.map(stepOf('build')), ...drops.map(stepOf('drop')), ...samples.map(stepOf('sample'))]
}

function isSampleDue({ kind, index }: IndexCandidate, now: Date): boolean {
  if (!indexKinds[kind].isSampled || index?.state !== 'ready') return false
  return index.sampledAt === null || now.getTime() - index.sampledAt.getTime() >= thresholds.sample.days * dayMs
}

/** The score that asks for an index in a type of so many records. */
export const requiredScore = (records: number): number =>
  thresholds.build.find((step) => records >= step.records)?.score ?? Number.POSITIVE_INFINITY

const dayMs = 86_400_000

function staysFor({ type, score, usedAt }: IndexCandidate, now: Date): boolean {
  if (usedAt === null || type.records < thresholds.fewRecords) return false
  return score >= thresholds.keep.score || now.getTime() - usedAt.getTime() < thresholds.keep.days * dayMs
}

type Unchosen = Omit<IndexCandidate, 'isChosen'>

function wishesFor(type: UsedType, field: UsedField, isSearchable: boolean): IndexCandidate[] {
  const ignored = new Set<FieldUse>([...usesServedByField(field), ...(isSearchable ? [] : (['search'] as const))])
  const uses = field.uses.filter(({ use }) => !ignored.has(use))
  const finder = finderOf(type, field, uses)
  return allIndexKinds.flatMap(([kind, { servedUses, supports }]) => {
    const index = field.indexes.find((one) => one.kind === kind)
    if (!supports(field.type)) return []
    const takes = new Set<FieldUse>([...(kind === 'value' ? [] : servedUses), ...(kind === finder ? indexKinds.value.servedUses : [])])
    const served = uses.filter(({ use }) => takes.has(use))
    return served.length > 0 || index ? [{ ...worthOf(served), type, field, kind, index, isChosen: false }] : []
  })
}

function worthOf(uses: readonly ScoredUse[]): Pick<Unchosen, 'uses' | 'score' | 'usedAt'> {
  const score = uses.reduce((sum, use) => sum + use.score, 0)
  const last = Math.max(...uses.map(({ usedAt }) => usedAt.getTime()))
  return { uses, score, usedAt: uses.length === 0 ? null : new Date(last) }
}

/** The one index of a field that finds its values: one that keeps an order does so too, and then `value` is not needed beside it. */
function finderOf({ records }: UsedType, { indexes }: UsedField, uses: readonly ScoredUse[]): IndexKindName {
  const sorting = allIndexKinds.filter(([kind, { findsValues }]) => findsValues && kind !== 'value')
  const isReady = (name: IndexKindName) => indexes.some(({ kind, state }) => kind === name && state === 'ready')
  const ready = sorting.find(([kind]) => isReady(kind))
  if (ready) return ready[0]
  if (isReady('value')) return 'value'
  const wanted = sorting.find(([, { servedUses }]) =>
    uses.some(({ use, score }) => servedUses.includes(use) && score >= requiredScore(records)),
  )
  return wanted ? wanted[0] : 'value'
}
