import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import {
  allIndexKinds,
  canPair,
  type FieldUse,
  type IndexKindName,
  indexKinds,
  pairKinds,
  usesServedByField,
} from '#shared/core/types/indexes/index-kinds.ts'
import { thresholds } from '#shared/core/types/indexes/thresholds.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** A record type with frequently used fields or with indexes by use: the input of index planning. */
export interface UsedType {
  readonly workspaceId: string
  readonly key: string
  readonly records: number
  readonly fields: readonly UsedField[]
}

export interface UsedField {
  readonly id: string
  readonly key: string
  readonly type: FieldType
  readonly unique: boolean
  readonly column: string
  readonly uses: readonly ScoredUse[]
  readonly indexes: readonly StoredIndex[]
}

/** The age-weighted number of uses of a field, and the time of the last. */
export interface ScoredUse {
  readonly use: FieldUse
  /** Of a pair: the id of the leading field. */
  readonly leadId: string | null
  readonly score: number
  readonly usedAt: Date
}

/** An index by use and its state. */
export interface StoredIndex {
  readonly kind: IndexKindName
  /** Of a pair: the id of the leading field. */
  readonly leadId: string | null
  /** `broken`: unfinished, or still being built. */
  readonly state: 'ready' | 'broken' | 'missing'
  readonly requestedAt: Date
  readonly builtAt: Date | null
  /** When the field's values were last sampled (sample-field.ts). */
  readonly sampledAt: Date | null
  readonly retryAt: Date | null
  readonly failure: string | null
  readonly isBeingBuilt: boolean
  readonly sizeBytes: number
  /** Scans of the index by PostgreSQL, and the time of the last. */
  readonly scans: number
  readonly scannedAt: Date | null
}

/** An existing or possible index of a field or of a pair, with its score. */
export interface IndexCandidate {
  readonly type: UsedType
  /** Of a pair: the field that bounds or orders the records. */
  readonly field: UsedField
  /** The field that leads a pair. */
  readonly lead?: UsedField | undefined
  readonly kind: IndexKindName
  readonly uses: readonly ScoredUse[]
  readonly score: number
  /** Null when no use that it serves was ever counted. */
  readonly usedAt: Date | null
  /** The existing index, also when unfinished. */
  readonly index: StoredIndex | undefined
  /** Whether the index should exist. */
  readonly isChosen: boolean
}

/** Lists every existing or possible index of a type, highest score first. */
export function findIndexCandidates(type: UsedType, now: Date): IndexCandidate[] {
  const searchedFieldCount = type.fields.filter((field) => fieldKinds[field.type].isText).length
  const fieldById = new Map(type.fields.map((field) => [field.id, field]))
  const candidates = type.fields.flatMap((field) => [
    ...findFieldCandidates(type, field, searchedFieldCount <= thresholds.searchedFields),
    ...findPairCandidates(type, field, fieldById),
  ])
  const weightOf = ({ score, index }: IndexCandidate) => score * (index?.state === 'ready' ? thresholds.favour : 1)
  const eligible = candidates
    .filter((candidate) =>
      candidate.index?.state === 'ready' ? isWorthKeeping(candidate, now) : candidate.score >= requiredScore(type.records),
    )
    .sort((one, other) => weightOf(other) - weightOf(one))
  const pairs = new Set(eligible.filter(({ lead }) => lead).slice(0, thresholds.pairs.perType))
  const chosen = new Set(eligible.filter((candidate) => !candidate.lead || pairs.has(candidate)).slice(0, thresholds.perType))
  return candidates.map((candidate) => ({ ...candidate, isChosen: chosen.has(candidate) })).sort((one, other) => other.score - one.score)
}

/** An action on an index candidate. */
export interface IndexStep {
  readonly action: 'build' | 'drop' | 'sample'
  readonly candidate: IndexCandidate
}

/** Plans the due steps: builds, the most useful first, then drops, then samples. Failed ones wait for their retry time. */
export function planIndexSteps(types: readonly UsedType[], now: Date): IndexStep[] {
  const dueCandidates = types
    .flatMap((type) => findIndexCandidates(type, now))
    .filter(({ index }) => !index?.retryAt || index.retryAt <= now)
  const builds = dueCandidates.filter(({ isChosen, index }) => isChosen && index?.state !== 'ready')
  const drops = dueCandidates.filter(({ isChosen, index }) => !isChosen && index)
  const benefitOf = ({ score, type }: IndexCandidate) => score * type.records
  builds.sort((one, other) => benefitOf(other) - benefitOf(one))
  const samples = dueCandidates.filter((candidate) => candidate.isChosen && isSampleDue(candidate, now))
  const stepOf = (action: IndexStep['action']) => (candidate: IndexCandidate) => ({ action, candidate })
  return [...builds.map(stepOf('build')), ...drops.map(stepOf('drop')), ...samples.map(stepOf('sample'))]
}

function isSampleDue({ kind, index }: IndexCandidate, now: Date): boolean {
  if (!indexKinds[kind].isSampled || index?.state !== 'ready') return false
  return index.sampledAt === null || now.getTime() - index.sampledAt.getTime() >= thresholds.sample.days * dayMs
}

/** The score from which an index is built in a type with this number of records; infinite for small types. */
export const requiredScore = (records: number): number =>
  thresholds.build.find((step) => records >= step.records)?.score ?? Number.POSITIVE_INFINITY

function isWorthKeeping({ type, score, usedAt }: IndexCandidate, now: Date): boolean {
  if (usedAt === null || type.records < thresholds.fewRecords) return false
  return score >= thresholds.keep.score || now.getTime() - usedAt.getTime() < thresholds.keep.days * dayMs
}

type Unchosen = Omit<IndexCandidate, 'isChosen'>

function findFieldCandidates(type: UsedType, field: UsedField, isSearchable: boolean): IndexCandidate[] {
  const ignored = new Set<FieldUse>([...usesServedByField(field), ...(isSearchable ? [] : (['search'] as const))])
  const uses = field.uses.filter(({ use, leadId }) => leadId === null && !ignored.has(use))
  const indexes = field.indexes.filter(({ leadId }) => leadId === null)
  const valueKind = findValueKind(type, indexes, uses)
  return allIndexKinds.flatMap(([kind, { servedUses, supports }]) => {
    const index = indexes.find((one) => one.kind === kind)
    if (!supports(field.type)) return []
    const kindUses = new Set<FieldUse>([
      ...(kind === 'value' ? [] : servedUses),
      ...(kind === valueKind ? indexKinds.value.servedUses : []),
    ])
    const served = uses.filter(({ use }) => kindUses.has(use))
    return served.length > 0 || index ? [{ ...scoreUses(served), type, field, kind, index, isChosen: false }] : []
  })
}

/** The candidates of the pairs that other fields lead to this one. */
function findPairCandidates(type: UsedType, field: UsedField, fieldById: ReadonlyMap<string, UsedField>): IndexCandidate[] {
  const usesByLead = Map.groupBy(field.uses, ({ leadId }) => leadId)
  const indexesByLead = Map.groupBy(field.indexes, ({ leadId }) => leadId)
  return [...new Set([...usesByLead.keys(), ...indexesByLead.keys()])].flatMap((leadId) => {
    const lead = leadId === null ? undefined : fieldById.get(leadId)
    if (!lead) return []
    const uses = canPair(lead, field) ? (usesByLead.get(leadId) ?? []) : []
    const indexes = indexesByLead.get(leadId) ?? []
    const found = findValueKind(type, indexes, uses)
    const rangeKind = found === 'value' ? pairKinds[0] : found
    return pairKinds.flatMap((kind) => {
      const index = indexes.find((one) => one.kind === kind)
      const served = uses.filter(({ use }) => use === kind || (use === 'range' && kind === rangeKind))
      return served.length > 0 || index ? [{ ...scoreUses(served), type, field, lead, kind, index, isChosen: false }] : []
    })
  })
}

function scoreUses(uses: readonly ScoredUse[]): Pick<Unchosen, 'uses' | 'score' | 'usedAt'> {
  const score = uses.reduce((sum, use) => sum + use.score, 0)
  const last = Math.max(...uses.map(({ usedAt }) => usedAt.getTime()))
  return { uses, score, usedAt: uses.length === 0 ? null : new Date(last) }
}

/** Returns the one index kind that serves a field's value lookups. An ordered index serves them too and replaces `value`. */
function findValueKind({ records }: UsedType, indexes: readonly StoredIndex[], uses: readonly ScoredUse[]): IndexKindName {
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
