import { readStoredFilter } from '#shared/core/records/query/filter-tree.ts'
import type { Button, Queue, QueueInput, Stage, StageInput } from '#shared/features/queues/definitions/schemas.ts'
import { queueLimits as limits } from '#shared/features/queues/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** Parts of a queue that its editor sets. */
export type QueueDefinition = Pick<Queue, 'key' | 'name' | 'object_type' | 'enabled' | 'stages' | 'intake' | 'settings'>

const defaults: Omit<QueueDefinition, 'key' | 'name'> = {
  object_type: null,
  enabled: true,
  stages: readStages([
    { key: 'todo', label: 'To do', kind: 'start' },
    { key: 'doing', label: 'Doing', kind: 'normal' },
    { key: 'done', label: 'Done', kind: 'terminal' },
  ]),
  intake: { enabled: false, filter: [], stage: null, key_field: null, close_on_unmatch: false },
  settings: { on_unknown_scan: 'reject', lease_seconds: limits.leaseSeconds, allow_duplicates: false, items_follow_records: false },
}

/**
 * Merges a body into the earlier definition, or into the defaults. Throws VALIDATION_ERROR naming the invalid part: a duplicate stage key,
 * an unknown stage, a changed key, a filter above 16 KB.
 */
export function readDefinition(input: QueueInput, before?: Queue): QueueDefinition {
  const base = before ?? { ...defaults, key: input.key ?? keyFromName(input.name ?? ''), name: '' }
  if (before && input.key !== undefined && input.key !== before.key)
    throw problem('VALIDATION_ERROR', `key is ${before.key} and cannot be changed`)
  const stages = input.stages ? readStages(input.stages, before?.stages) : base.stages
  const intake = input.intake === null ? defaults.intake : { ...base.intake, ...defined(input.intake ?? {}) }
  const sent = input.intake?.filter
  const filter = sent === undefined ? intake.filter : readStoredFilter(sent, 'intake.filter', before?.intake.filter)
  const normalizedIntake = { ...intake, filter, key_field: intake.key_field?.trim() ? intake.key_field : null }
  const settings = input.settings === null ? defaults.settings : { ...base.settings, ...defined(input.settings ?? {}) }
  const definition: QueueDefinition = {
    key: base.key,
    name: input.name ?? base.name,
    object_type: input.object_type === undefined ? base.object_type : input.object_type,
    enabled: input.enabled ?? base.enabled,
    stages,
    intake: normalizedIntake,
    settings,
  }
  if (intake.stage !== null && !stages.some(({ key }) => key === intake.stage)) throw unknownStage('intake.stage', intake.stage)
  if (intake.enabled && definition.object_type === null)
    throw problem('VALIDATION_ERROR', 'intake.enabled needs object_type, the type whose records it takes in')
  if (settings.items_follow_records && definition.object_type === null)
    throw problem('VALIDATION_ERROR', 'settings.items_follow_records needs object_type, the type whose records the items follow')
  return definition
}

const defined = <T extends object>(given: T): T => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T

/** Derives a key from a name: lowercase Latin letters and digits, joined by hyphens. Throws VALIDATION_ERROR when the name has none. */
export function keyFromName(name: string, path = 'key'): string {
  const key = slugOf(name)
  if (key === '') throw problem('VALIDATION_ERROR', `${path} is required: the name has no letter or digit from which it could be made`)
  return key
}

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)

interface Labelled {
  readonly label?: string
  readonly key?: string
}

/**
 * Keys of list elements: the key sent; else the key of the stored element with the same label; else a key derived from the label, or
 * `fallback` when the label has no Latin letter or digit. A number makes derived keys unique.
 */
function keysOf(given: readonly Labelled[], stored: readonly Labelled[], fallback: string): string[] {
  const taken = new Set(given.flatMap(({ key }) => (key === undefined ? [] : [key])))
  return given.map(({ key, label = '' }) => {
    if (key !== undefined) return key
    const kept = stored.find((one) => one.label === label && one.key !== undefined && !taken.has(one.key))?.key
    const derived = kept ?? findFreeKey(slugOf(label) || fallback, taken)
    taken.add(derived)
    return derived
  })
}

function findFreeKey(key: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? key : `${key.slice(0, 56)}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}

function readStages(given: readonly StageInput[], stored: readonly Stage[] = []): Stage[] {
  const stageKeys = keysOf(given, stored, 'stage')
  const named = given.map((stage, index) => ({ ...stage, key: stageKeys[index] ?? '' }))
  const keys = new Set<string>()
  for (const [index, { key }] of named.entries()) {
    if (keys.has(key))
      throw problem('VALIDATION_ERROR', `stages[${index}].key must differ from those of the other stages, got ${key} again`)
    keys.add(key)
  }
  const hasStart = named.some(({ kind }) => kind === 'start')
  return named
    .map((stage, index) => readStage(stage, index, keys, !hasStart && index === 0, stored))
    .sort((one, other) => one.position - other.position)
}

function readStage(
  given: StageInput & { key: string },
  index: number,
  keys: ReadonlySet<string>,
  isFirst: boolean,
  stored: readonly Stage[],
): Stage {
  const path = `stages[${index}]`
  const { key, label = key, kind = isFirst ? 'start' : 'normal', position = index, from = [], wip_limit = 0, sla_seconds = 0 } = given
  for (const [position, one] of from.entries()) if (!keys.has(one)) throw unknownStage(`${path}.from[${position}]`, one)
  const { record_patch = null } = given
  return {
    key,
    label,
    kind,
    position,
    from: [...new Set(from)],
    wip_limit,
    sla_seconds,
    record_patch: record_patch && Object.keys(record_patch).length > 0 ? record_patch : null,
    on_enter: readOnEnter(given.on_enter, `${path}.on_enter`),
    buttons: readButtons(given.buttons ?? [], `${path}.buttons`, stored.find((one) => one.key === key)?.buttons ?? []),
  }
}

function readOnEnter(given: StageInput['on_enter'], path: string): Stage['on_enter'] {
  const { function_id = null, flow_id = null } = given ?? {}
  if (function_id !== null && flow_id !== null) throw problem('VALIDATION_ERROR', `${path} must name a function or a flow, not both`)
  if (function_id !== null) return { function_id }
  return flow_id === null ? null : { flow_id }
}

function readButtons(given: NonNullable<StageInput['buttons']>, path: string, stored: readonly Button[]): Button[] {
  const keyed = (buttons: readonly { readonly id?: string; readonly label: string }[]) =>
    buttons.map(({ id, label }) => (id === undefined ? { label } : { label, key: id }))
  const buttonIds = keysOf(keyed(given), keyed(stored), 'button')
  const ids = new Set<string>()
  return given.map((button, index) => {
    const id = buttonIds[index] ?? ''
    if (ids.has(id)) throw problem('VALIDATION_ERROR', `${path}[${index}].id must differ from those of the other buttons, got ${id} again`)
    ids.add(id)
    return { ...button, id }
  })
}

const unknownStage = (path: string, key: string) =>
  problem('VALIDATION_ERROR', `${path} must be the key of one of the queue's stages, got ${key}`)

/** The default stage of new items: the first start stage by position, else the first stage. */
export const findStartStage = ({ stages }: Pick<Queue, 'stages'>): Stage => {
  const first = stages.find(({ kind }) => kind === 'start') ?? stages[0]
  if (!first) throw problem('INTERNAL', undefined, { cause: new Error('a queue without stages') })
  return first
}

/** A queue's stage named by a path; throws NOT_FOUND. */
export function requirePathStage(queue: Pick<Queue, 'stages'>, key: string): Stage {
  const found = queue.stages.find((stage) => stage.key === key)
  if (!found) throw problem('NOT_FOUND')
  return found
}

/** A queue's stage named by a body; throws NOT_FOUND naming the stage. */
export function requireStage({ stages }: Pick<Queue, 'stages'>, key: string): Stage {
  const found = stages.find((stage) => stage.key === key)
  if (!found) throw problem('NOT_FOUND', `The queue has no stage ${key}`)
  return found
}

/** The next stage by position; the last stage is its own next. */
export const findNextStage = (queue: Pick<Queue, 'stages'>, key: string): Stage =>
  queue.stages[queue.stages.findIndex((stage) => stage.key === key) + 1] ?? requireStage(queue, key)
