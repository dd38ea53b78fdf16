import { recordAccessFor } from '#shared/core/records/access.ts'
import { isOfPresentField, seesEarlierFields, type Writing } from '#shared/core/records/earlier-fields.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import { accessToAnnouncedEvent } from '#shared/features/calendar/announce.ts'
import { findEvent } from '#shared/features/calendar/events/store.ts'
import { findAttendees } from '#shared/features/calendar/guests/store.ts'
import type { FlowRunSummary, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { seesAllOf, showTypedEvents } from '#shared/features/flows/triggers/typed-events.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { findItem } from '#shared/features/queues/items/find.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A run, and the data that decides who may see its trigger. */
export interface TriggeredRun {
  readonly id: string
  readonly trigger: FlowRunSummary['trigger']
  readonly trigger_visibility: TriggerVisibility | null
  /** Whether the run has an input. */
  readonly has_input: boolean
  /** Keys of the record in the run's input. */
  readonly record_keys: readonly string[]
  readonly created_at: string
}

/** A viewer's access to a run's trigger. */
export interface TriggerAccess {
  /** Whether the id of the record or calendar event is visible. */
  readonly isIdVisible: boolean
  /** Whether every value of the record, the details of the calendar event and the input are visible. */
  readonly isFullyVisible: boolean
}

export const noAccess: TriggerAccess = { isIdVisible: false, isFullyVisible: false }
const all: TriggerAccess = { isIdVisible: true, isFullyVisible: true }
const fullAccessIf = (isSeen: boolean): TriggerAccess => (isSeen ? all : noAccess)

/**
 * Loads the caller's access to the triggers of runs, by run id; the caller's current rights count. Reads the records of a type in one
 * statement.
 */
export async function loadTriggerAccess(scope: Scope, runs: readonly TriggeredRun[]): Promise<ReadonlyMap<string, TriggerAccess>> {
  const accessById = new Map<string, TriggerAccess>()
  const ofRecords = runs.filter(({ trigger }) => trigger.kind === 'record_event')
  for (const [typeKey, ofType] of Map.groupBy(ofRecords, ({ trigger }) => trigger.object_type ?? '')) {
    const accessOf = await recordTriggerAccess(scope, typeKey, ofType)
    for (const run of ofType) accessById.set(run.id, accessOf(run))
  }
  const ofEvents = runs.filter(({ trigger }) => trigger.kind === 'event')
  if (ofEvents.length > 0) for (const [id, access] of await typedEventAccess(scope, ofEvents)) accessById.set(id, access)
  const known = new Map<string, TriggerAccess>()
  for (const run of runs) {
    if (accessById.has(run.id)) continue
    const key = JSON.stringify([run.trigger.kind, run.trigger.record_id, run.trigger_visibility, run.has_input])
    const access =
      known.get(key) ?? (run.trigger.kind === 'calendar' ? await eventTriggerAccess(scope, run) : await inputAccess(scope, run))
    known.set(key, access)
    accessById.set(run.id, access)
  }
  return accessById
}

/**
 * Returns the caller's access to runs of a type's records. The id of a deleted record is visible to callers who may read every record of its
 * type. That a run was made tells of the fields that its trigger tested, so the id is visible only to callers who see them. A record with a
 * value that belongs to no present field of the type is fully visible to callers whose rules hide no field.
 */
async function recordTriggerAccess(
  scope: Scope,
  typeKey: string,
  runs: readonly TriggeredRun[],
): Promise<(run: TriggeredRun) => TriggerAccess> {
  const type = await findRecordType(scope, typeKey)
  if (!type) return () => fullAccessIf(scope.actor.owner)
  const access = recordAccessFor(scope, type, 'records:read')
  const seesEarlier = seesEarlierFields(scope, typeKey)
  const seesKeys = (run: TriggeredRun) => seesEarlier || earlierKeysOf(type, run).length === 0
  if (access.verdict === 'all' && access.alwaysVisible) return (run) => ({ isIdVisible: true, isFullyVisible: seesKeys(run) })
  const ids = [...new Set(runs.flatMap(({ trigger }) => trigger.record_id ?? []))]
  const records = new Map((await findRecordsByIds(scope, type, ids)).map((record) => [record.id, record]))
  return (run) => {
    const record = records.get(run.trigger.record_id ?? '')
    const tested = run.trigger_visibility?.tested ?? []
    const seesTested = (isSeen: (key: string) => boolean) =>
      tested.every((key) => (isOfPresentField(type, key, writingOf(run)) ? isSeen(key) : seesEarlier))
    if (!record) return { isIdVisible: access.verdict === 'all' && seesTested((key) => !access.hideable.has(key)), isFullyVisible: false }
    const visible = access.visibleFields(record)
    return {
      isIdVisible: access.test(record) && seesTested((key) => visible.has(key)),
      isFullyVisible: access.test(record) && access.hideable.isSubsetOf(visible) && seesKeys(run),
    }
  }
}

/**
 * The caller's access to runs that events of the list started: to the event itself, and, where the trigger tested a record, to what it
 * tested. An event is fully visible to callers to whom all is shown that the flow saw. Where a rule hides fields of the record from the caller,
 * no event of it is: those that are would tell which changes left the hidden fields alone.
 */
async function typedEventAccess(scope: Scope, runs: readonly TriggeredRun[]): Promise<ReadonlyMap<string, TriggerAccess>> {
  const shown = await showTypedEvents(
    scope,
    runs.flatMap(({ trigger_visibility }) => trigger_visibility?.event ?? []),
  )
  const tests = runs.filter(({ trigger_visibility }) => trigger_visibility?.tested !== undefined)
  const seesTested = new Map<string, boolean>()
  for (const [typeKey, ofType] of Map.groupBy(tests, ({ trigger }) => trigger.object_type ?? '')) {
    const accessOf = await recordTriggerAccess(scope, typeKey, ofType)
    for (const run of ofType) seesTested.set(run.id, accessOf(run).isIdVisible)
  }
  const hidden = new Set<string>()
  const changes = runs.filter(({ trigger }) => trigger.event?.startsWith('records.'))
  for (const [typeKey, ofType] of Map.groupBy(changes, ({ trigger }) => trigger.object_type ?? '')) {
    const type = await findRecordType(scope, typeKey)
    if (!type || recordAccessFor(scope, type, 'records:read').hideable.size === 0) continue
    const accessOf = await recordTriggerAccess(scope, typeKey, ofType)
    for (const run of ofType) if (!accessOf(run).isFullyVisible) hidden.add(run.id)
  }
  const accessOf = ({ id, trigger_visibility }: TriggeredRun): TriggerAccess => {
    const view = shown.get(trigger_visibility?.event?.id ?? '')
    const isIdVisible = view !== undefined && seesTested.get(id) !== false
    return { isIdVisible, isFullyVisible: isIdVisible && !hidden.has(id) && seesAllOf(view, trigger_visibility?.digests ?? []) }
  }
  return new Map(runs.map((run) => [run.id, accessOf(run)]))
}

/** The keys of a run's record whose values belong to no present field of the type. */
const earlierKeysOf = (type: RecordType, run: TriggeredRun): string[] =>
  run.record_keys.filter((key) => !ownRecordKeys.has(key) && !isOfPresentField(type, key, writingOf(run)))

/** Keys of a run's record that are no fields. */
export const ownRecordKeys: ReadonlySet<string> = new Set(['id', 'created_at'])

/** When the values of a run's record were put into its input. */
export const writingOf = ({ trigger_visibility, created_at }: Pick<TriggeredRun, 'trigger_visibility' | 'created_at'>): Writing => ({
  revision: trigger_visibility?.type_revision ?? null,
  at: created_at,
})

/** Uses the present calendar, privacy and guests of the event, or those with which it was announced when it has been deleted since. */
async function eventTriggerAccess(scope: Scope, { trigger, trigger_visibility }: TriggeredRun): Promise<TriggerAccess> {
  const { db, workspace } = scope
  const id = trigger.record_id ?? ''
  const event = isUuid(id) ? await firstRow(db, findEvent({ workspaceId: workspace.id, id })) : undefined
  const guests = event ? ((await findAttendees(db, workspace.id, [event.id])).get(event.id) ?? []) : []
  const {
    calendar_id,
    visibility,
    guest_ids = [],
  } = event ? { ...event, guest_ids: guests.flatMap(({ user_id }) => user_id ?? []) } : (trigger_visibility ?? {})
  if (calendar_id === undefined || visibility === undefined) return noAccess
  return fullAccessIf((await accessToAnnouncedEvent(scope, { calendar_id, visibility, guest_ids })) !== 'none')
}

/** The starter and the workspace owner see an input; callers who see the queue item see an input from a work queue. */
async function inputAccess(scope: Scope, { trigger_visibility, has_input }: TriggeredRun): Promise<TriggerAccess> {
  const { actor } = scope
  if (!has_input || actor.owner || (trigger_visibility?.starter_id != null && trigger_visibility.starter_id === actor.id)) return all
  if (trigger_visibility?.queue_id === undefined) return noAccess
  try {
    const queue = await requireQueue(scope, trigger_visibility.queue_id)
    const mayRead = permits(scope, 'queues:read', queue.key)
    return fullAccessIf(mayRead && (await findItem(scope, queue, trigger_visibility.item_id ?? '')) !== undefined)
  } catch (error) {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return noAccess
    throw error
  }
}
