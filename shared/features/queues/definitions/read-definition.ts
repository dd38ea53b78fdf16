import type { Button, Queue, QueueInput, Stage, StageInput } from '#shared/features/queues/definitions/schemas.ts'
import { queueLimits as limits } from '#shared/features/queues/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

/** What of a queue its editor chooses. */
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
 * The definition that a body makes of an earlier one, or of none. Throws VALIDATION_ERROR naming the part that is wrong in itself: a stage
 * twice, one that the queue does not have, a change of the key.
 */
export function readDefinition(input: QueueInput, before?: Queue): QueueDefinition {
  const known = before ?? { ...defaults, key: input.key ?? keyFromName(input.name ?? ''), name: '' }
  if (before && input.key !== undefined && input.key !== before.key)
    throw problem('VALIDATION_ERROR', `key is ${before.key} and cannot be changed`)
  const stages = input.stages ? readStages(input.stages, before?.stages) : known.stages
  const intake = input.intake === null ? defaults.intake : { ...known.intake, ...defined(input.intake ?? {}) }
  const read = { ...intake, key_field: intake.key_field?.trim() ? intake.key_field : null }
  const settings = input.settings === null ? defaults.settings : { ...known.settings, ...defined(input.settings ?? {}) }
  const made: QueueDefinition = {
    key: known.key,
    name: input.name ?? known.name,
    object_type: input.object_type === undefined ? known.object_type : input.object_type,
    enabled: input.enabled ?? known.enabled,
    stages,
    intake: read,
    settings,
  }
  if (intake.stage !== null && !stages.some(({ key }) => key === intake.stage)) throw noSuch('intake.stage', intake.stage)
  if (intake.enabled && made.object_type === null)
    throw problem('VALIDATION_ERROR', 'intake.enabled needs object_type, the type whose records it takes in')
  if (settings.items_follow_records && made.object_type === null)
    throw problem('VALIDATION_ERROR', 'settings.items_follow_records needs object_type, the type whose records the items follow')
  return made
}

const defined = <T extends object>(given: T): T => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T

/** The key that a name makes: its letters and digits, small, with hyphens between. Throws VALIDATION_ERROR when it has none. */
export function keyFromName(name: string, path = 'key'): string {
  const made = slugOf(name)
  if (made === '') throw problem('VALIDATION_ERROR', `${path} is required: the name has no letter or digit from which it could be made`)
  return made
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
 * The keys of things in a list: those that are sent, and for each that is left out the one of the stored thing with the same label, else one
 * made of its label, or of `word` where that has no Latin letter or digit. A number tells those apart that would be the same.
 */
function keysOf(given: readonly Labelled[], stored: readonly Labelled[], word: string): string[] {
  const taken = new Set(given.flatMap(({ key }) => (key === undefined ? [] : [key])))
  return given.map(({ key, label = '' }) => {
    if (key !== undefined) return key
    const kept = stored.find((one) => one.label === label && one.key !== undefined && !taken.has(one.key))?.key
    const made = kept ?? freeKey(slugOf(label) || word, taken)
    taken.add(made)
    return made
  })
}

function freeKey(key: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const made = number === 1 ? key : `${key.slice(0, 56)}-${number}`
    if (!taken.has(made)) return made
  }
}

function readStages(given: readonly StageInput[], stored: readonly Stage[] = []): Stage[] {
  const made = keysOf(given, stored, 'stage')
  const named = given.map((stage, index) => ({ ...stage, key: made[index] ?? '' }))
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
  for (const [place, one] of from.entries()) if (!keys.has(one)) throw noSuch(`${path}.from[${place}]`, one)
  const { record_patch = null } = given
  return {
    ...{ key, label, kind, position, from: [...new Set(from)], wip_limit, sla_seconds },
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
  const made = keysOf(keyed(given), keyed(stored), 'button')
  const ids = new Set<string>()
  return given.map((button, index) => {
    const id = made[index] ?? ''
    if (ids.has(id)) throw problem('VALIDATION_ERROR', `${path}[${index}].id must differ from those of the other buttons, got ${id} again`)
    ids.add(id)
    return { ...button, id }
  })
}

const noSuch = (path: string, key: string) =>
  problem('VALIDATION_ERROR', `${path} must be the key of one of the queue's stages, got ${key}`)

/** The stage that new items enter when none is named: the first start stage by position, or the first of all. */
export const findStartStage = ({ stages }: Pick<Queue, 'stages'>): Stage => {
  const first = stages.find(({ kind }) => kind === 'start') ?? stages[0]
  if (!first) throw problem('INTERNAL', undefined, { cause: new Error('a queue without stages') })
  return first
}

/** One of a queue's stages that a path names; throws NOT_FOUND. */
export function requirePathStage(queue: Pick<Queue, 'stages'>, key: string): Stage {
  const found = queue.stages.find((stage) => stage.key === key)
  if (!found) throw problem('NOT_FOUND')
  return found
}

/** The same where a body names it. */
export function requireStage({ stages }: Pick<Queue, 'stages'>, key: string): Stage {
  const found = stages.find((stage) => stage.key === key)
  if (!found) throw problem('NOT_FOUND', `The queue has no stage ${key}`)
  return found
}

/** The stage after one by position; undefined at the last. */
export const findNextStage = ({ stages }: Pick<Queue, 'stages'>, key: string): Stage | undefined =>
  stages[stages.findIndex((stage) => stage.key === key) + 1]
