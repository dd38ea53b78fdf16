import { recordAccessFor } from '#shared/core/records/access.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType } from '#shared/core/types/record-type.ts'
import { accessToAnnouncedEvent } from '#shared/features/calendar/announce.ts'
import { findEvent } from '#shared/features/calendar/events/store.ts'
import { findAttendees } from '#shared/features/calendar/guests/store.ts'
import type { FlowRunSummary, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { requireQueue } from '#shared/features/queues/definitions/load.ts'
import { findItem } from '#shared/features/queues/items/find.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A run, by what set it off. */
export interface TriggeredRun {
  readonly id: string
  readonly trigger: FlowRunSummary['trigger']
  readonly guard: TriggerVisibility | null
  /** Whether it was given an input. */
  readonly hasInput: boolean
}

/** What a viewer may see of what set a run off. */
export interface TriggerAccess {
  /** The record or the calendar event by its id. */
  readonly isIdVisible: boolean
  /** All of it: every value of the record, the details of the event, the input. */
  readonly isFullyVisible: boolean
}

const nothing: TriggerAccess = { isIdVisible: false, isFullyVisible: false }
const all: TriggerAccess = { isIdVisible: true, isFullyVisible: true }
const seenIf = (isSeen: boolean): TriggerAccess => (isSeen ? all : nothing)

/** What the caller may see of what set these runs off, by run, with its rights of now. Records of one type are read in one statement. */
export async function loadTriggerAccess(scope: Scope, runs: readonly TriggeredRun[]): Promise<ReadonlyMap<string, TriggerAccess>> {
  const sights = new Map<string, TriggerAccess>()
  const ofRecords = runs.filter(({ trigger }) => trigger.kind === 'record_event')
  for (const [typeKey, ofType] of Map.groupBy(ofRecords, ({ trigger }) => trigger.object_type ?? '')) {
    const sightOf = await recordSights(scope, typeKey, ofType)
    for (const run of ofType) sights.set(run.id, sightOf(run.trigger.record_id))
  }
  const known = new Map<string, TriggerAccess>()
  for (const run of runs) {
    if (sights.has(run.id)) continue
    const key = JSON.stringify([run.trigger.kind, run.trigger.record_id, run.guard, run.hasInput])
    const sight = known.get(key) ?? (run.trigger.kind === 'calendar' ? await eventSight(scope, run) : await inputSight(scope, run))
    known.set(key, sight)
    sights.set(run.id, sight)
  }
  return sights
}

/** A record that is gone is seen by those who may read every record of its type. */
async function recordSights(scope: Scope, typeKey: string, runs: readonly TriggeredRun[]): Promise<(id: string | null) => TriggerAccess> {
  const type = await findRecordType(scope, typeKey)
  if (!type) return () => seenIf(scope.actor.owner)
  const access = recordAccessFor(scope, type, 'records:read')
  if (access.verdict === 'all' && access.alwaysVisible) return () => all
  const ids = [...new Set(runs.flatMap(({ trigger }) => trigger.record_id ?? []))]
  const records = new Map((await findRecordsByIds(scope, type, ids)).map((record) => [record.id, record]))
  return (id) => {
    const record = records.get(id ?? '')
    if (!record) return { isIdVisible: access.verdict === 'all', isFullyVisible: false }
    return {
      isIdVisible: access.test(record),
      isFullyVisible: access.test(record) && access.hideable.isSubsetOf(access.visibleFields(record)),
    }
  }
}

/** By the calendar, privacy and guests that the event has now; of one that is gone by those that it was announced with. */
async function eventSight(scope: Scope, { trigger, guard }: TriggeredRun): Promise<TriggerAccess> {
  const { db, workspace } = scope
  const id = trigger.record_id ?? ''
  const event = isUuid(id) ? await findEvent(db, workspace.id, id) : undefined
  const guests = event ? ((await findAttendees(db, workspace.id, [event.id])).get(event.id) ?? []) : []
  const {
    calendar_id,
    visibility,
    guest_ids = [],
  } = event ? { ...event, guest_ids: guests.flatMap(({ user_id }) => user_id ?? []) } : (guard ?? {})
  if (calendar_id === undefined || visibility === undefined) return nothing
  return seenIf((await accessToAnnouncedEvent(scope, { calendar_id, visibility, guest_ids })) !== 'none')
}

/** An input is seen by who gave it and by the owner of the workspace, that of a work queue by those who see its item. */
async function inputSight(scope: Scope, { guard, hasInput }: TriggeredRun): Promise<TriggerAccess> {
  const { actor } = scope
  if (!hasInput || actor.owner || (guard?.starter_id != null && guard.starter_id === actor.id)) return all
  if (guard?.queue_id === undefined) return nothing
  try {
    const queue = await requireQueue(scope, guard.queue_id)
    const mayRead = permits(scope, 'queues:read', queue.key)
    return seenIf(mayRead && (await findItem(scope, queue, guard.item_id ?? '')) !== undefined)
  } catch (error) {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return nothing
    throw error
  }
}
