import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { presentValuesView } from '#shared/core/records/audit/audit-values.ts'
import { isOfPresentField, seesEarlierFields } from '#shared/core/records/earlier-fields.ts'
import { findRecordsByIds } from '#shared/core/records/query/records-by-ids.ts'
import { toVisibleView } from '#shared/core/records/read.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { beforeChange, snapshotToRecord } from '#shared/core/records/snapshots.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType } from '#shared/core/types/record-type.ts'
import type { RehearsedRun } from '#shared/features/flows/runs/rehearsal-schemas.ts'
import { type AuditEntry, type EndedRun, findAuditEntriesSince } from '#shared/features/flows/runs/rehearsal-store.ts'
import type { TriggerInput, TriggerVisibility } from '#shared/features/flows/runs/schemas.ts'
import { loadTriggerAccess, ownRecordKeys, type TriggeredRun, writingOf } from '#shared/features/flows/triggers/trigger-access.ts'
import { showTypedEvents } from '#shared/features/flows/triggers/typed-events.ts'
import { getMessage } from '#shared/features/messages/sending/messages.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/**
 * Returns the trigger input with its event as `scope` may read it, or with only those values of its record, and of the record before the
 * change, that `scope` may read; of a record that it may not read, the id and the creation time. Earlier values must have been readable
 * then, too.
 */
export async function readableInput(scope: Scope, { id: _, input, objectType, ...run }: EndedRun): Promise<TriggerInput> {
  if (typeof input.event === 'object') return { ...input, event: await readableEvent(scope, run.trigger_visibility) }
  const { record, record_id, before, changed } = input
  if (!record || record_id === undefined || scope.actor.owner) return input
  const type = await findRecordType(scope, objectType ?? '')
  const access = type && recordAccessFor(scope, type, 'records:read')
  const stored = type && (await readableRecords(scope, type, [record_id])).get(record_id)
  const visible = access && stored ? access.visibleFields(stored) : noKeys
  const isReadable = (key: string, seen: ReadonlySet<string>) => {
    if (ownRecordKeys.has(key)) return true
    if (!type || !stored) return false
    return isOfPresentField(type, key, writingOf(run)) ? seen.has(key) : seesEarlierFields(scope, type.key)
  }
  const readable = (values: Readonly<Record<string, unknown>>, seen: ReadonlySet<string>) =>
    Object.fromEntries(Object.entries(values).filter(([key]) => isReadable(key, seen)))
  const seenBefore = (values: Readonly<Record<string, unknown>>) =>
    type && access && stored
      ? access.visibleFields(snapshotToRecord(type, { ...stored, entryId: '', values, writing: writingOf(run) }))
      : noKeys
  return {
    ...input,
    record: readable(record, visible),
    ...(before ? { before: readable(before, visible.intersection(seenBefore(before))) } : {}),
    ...(changed ? { changed: changed.filter((key) => isReadable(key, visible)) } : {}),
  }
}

/** The event as `scope` may read it now; undefined for one that it may not read. */
async function readableEvent(scope: Scope, visibility: TriggerVisibility | null): Promise<WorkspaceEvent | undefined> {
  const event = visibility?.event
  return event && (await showTypedEvents(scope, [event])).get(event.id)
}

const noKeys: ReadonlySet<string> = new Set()

const pick = (values: Readonly<Record<string, unknown>>, keys: ReadonlySet<string>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => keys.has(key)))

/**
 * Returns the trigger input without the record, what it was, the calendar event or input, and without their ids, when the rehearsal's caller
 * may not see them.
 */
export async function visibleInput(
  caller: Scope,
  input: TriggerInput,
  run: Omit<TriggeredRun, 'has_input' | 'record_keys'>,
): Promise<TriggerInput> {
  const { record, record_id, before: _, changed: __, calendar_event, input: manualInput, ...others } = input
  if (run.trigger.kind === 'event') return (await seesTrigger(caller, run)) ? input : { ...input, event: undefined }
  if (record_id === undefined && calendar_event === undefined && manualInput == null) return input
  const shown = { ...run, has_input: manualInput != null, record_keys: Object.keys(record ?? {}) }
  const access = (await loadTriggerAccess(caller, [shown])).get(run.id)
  // `readableInput` already removed the hidden values of a record whose id is visible.
  if (access?.isFullyVisible || (access?.isIdVisible && calendar_event === undefined && manualInput == null)) return input
  return {
    ...others,
    ...(record === undefined ? {} : { record: {} }),
    ...(calendar_event === undefined ? {} : { calendar_event: {} }),
    ...(manualInput === undefined ? {} : { input: null }),
  }
}

/** Whether the caller may know which event started a run. */
const seesTrigger = async (caller: Scope, run: Omit<TriggeredRun, 'has_input' | 'record_keys'>): Promise<boolean> =>
  (await loadTriggerAccess(caller, [{ ...run, has_input: false, record_keys: [] }])).get(run.id)?.isIdVisible === true

/** The records that the caller may read, by id. */
async function readableRecords(scope: Scope, type: RecordType, ids: readonly string[]): Promise<Map<string, StoredRecord>> {
  const access = recordAccessFor(scope, type, 'records:read')
  const records = (await findRecordsByIds(scope, type, ids)).filter((record) => access.test(record))
  return new Map(records.map((record) => [record.id, record]))
}

/**
 * Records created, changed and deleted since a position in the audit, with the fields that the caller may see. The rehearsal deletes with the
 * caller's rights, so the caller may know the deleted ones.
 */
export async function recordChangesSince(
  scope: Scope,
  { auditPosition, requestId }: { readonly auditPosition: string; readonly requestId: string },
): Promise<Pick<RehearsedRun, 'created' | 'changed' | 'deleted'>> {
  const entries = await scope.db.query(findAuditEntriesSince({ workspaceId: scope.workspace.id, afterId: auditPosition, requestId }))
  const created: RehearsedRun['created'] = []
  const changed: RehearsedRun['changed'] = []
  const deleted: RehearsedRun['deleted'] = []
  for (const [object_type, ofType] of Map.groupBy(entries, (entry) => entry.object_type)) {
    const type = await findRecordType(scope, object_type)
    if (!type) continue
    const access = recordAccessFor(scope, type, 'records:read')
    const records = await readableRecords(scope, type, [...new Set(ofType.map(({ record_id }) => record_id))])
    for (const [record_id, ofRecord] of Map.groupBy(ofType, (entry) => entry.record_id)) {
      const [record, isNew] = [records.get(record_id), ofRecord[0]?.before === null]
      if (!isNew && ofRecord.at(-1)?.after === null) deleted.push({ object_type, record_id })
      if (!record) continue
      if (isNew) created.push({ id: record_id, object_type, values: { ...toVisibleView(type, record, access).values } })
      else changed.push({ object_type, record_id, ...sidesOf(type, access, ofRecord, record) })
    }
  }
  return { created, changed, deleted }
}

/** Merges the changes of a record into one. Each side has the fields that the caller may see of the record as it is on that side. */
function sidesOf(type: RecordType, access: RecordAccess, entries: readonly AuditEntry[], record: StoredRecord) {
  const [before, after]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
  for (const entry of entries) {
    for (const key of Object.keys(entry.after ?? {})) {
      if (!Object.hasOwn(before, key)) before[key] = entry.before?.[key] ?? null
      after[key] = entry.after?.[key] ?? null
    }
  }
  const writing = { revision: type.revision, at: record.updated_at }
  const now = { ...record, entryId: '', values: presentValuesView(type, record.values), writing }
  const earlier = beforeChange(type, { after: now, before })
  return { before: pick(before, access.visibleFields(earlier)), after: pick(after, access.visibleFields(record)) }
}

/** The messages that a run would send. */
export async function messagesToSend(
  scope: Scope,
  sent: readonly { readonly nodeId: string; readonly output: unknown }[],
): Promise<RehearsedRun['messages']> {
  const messages: RehearsedRun['messages'] = []
  for (const { nodeId, output } of sent) {
    const { message_id, skipped } = hasParts(output) ? output : {}
    const { to, subject } = await getMessage(scope, String(message_id))
    messages.push({ node_id: nodeId, to, subject, skipped: skipped === true })
  }
  return messages
}
