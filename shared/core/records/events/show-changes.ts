import type { EventFamily, ShowEvent, ShownEvent } from '#shared/core/events/event-type.ts'
import { isOfPresentField, type Writing } from '#shared/core/records/earlier-fields.ts'
import { type EventAccess, findEventAccess } from '#shared/core/records/events/event-access.ts'
import { type EntryHead, type EntryValues, findEntryHeads, findEntryValues } from '#shared/core/records/events/store.ts'
import type { StoredRecord } from '#shared/core/records/record.ts'
import { snapshotToRecord } from '#shared/core/records/snapshots.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'

type JsonValues = Readonly<Record<string, unknown>>

/** Characters of values that are read at once, hidden ones included. */
const maxStepText = 3_000_000

/** The event of a change. `updatedAt` is that of the record, before its deletion; without it the time of the event counts. */
export type ChangeRow = StoredEvent & { readonly updatedAt?: string | null }

/** A change with its values and the caller's access to them. */
export interface ReadChange extends EntryValues {
  readonly head: EntryHead
  readonly access: EventAccess
  readonly writing: Writing
  /** Whether the event has the value of a key. */
  readonly has: (key: string) => boolean
}

/** Audit entries of changes. Their values are read in steps, so that those of events that are not shown fill no memory. */
interface Entries {
  readonly headOf: (id: string) => Promise<EntryHead | undefined>
  /** The values of an entry. Those of entries before it are let go. */
  readonly valuesOf: (id: string) => Promise<EntryValues | undefined>
}

function createEntries({ db, workspace }: Pick<Scope, 'db' | 'workspace'>, events: readonly StoredEvent[]): Entries {
  const workspaceId = workspace.id
  let heads: Promise<ReadonlyMap<string, EntryHead>> | undefined
  let values: ReadonlyMap<string, EntryValues> = new Map()
  const readHeads = async () => {
    const rows = await db.query(findEntryHeads({ workspaceId, ids: events.map(({ id }) => id) }))
    return new Map(rows.map((head) => [head.id, head]))
  }
  const findHeads = () => {
    heads ??= readHeads()
    return heads
  }
  const readFrom = async (id: string): Promise<void> => {
    const known = await findHeads()
    const ids: string[] = []
    let length = 0
    for (const event of events.slice(events.findIndex((one) => one.id === id))) {
      length += known.get(event.id)?.text_length ?? 0
      if (ids.length > 0 && length > maxStepText) break
      ids.push(event.id)
    }
    values = new Map((await db.query(findEntryValues({ workspaceId, ids }))).map((one) => [one.id, one]))
  }
  return {
    headOf: async (id) => (await findHeads()).get(id),
    valuesOf: async (id) => {
      if (!values.has(id)) await readFrom(id)
      return values.get(id)
    },
  }
}

/** Prepares showing changes of records; those who are shown the same changes may share their entries. */
async function prepareChanges(scope: Scope, events: readonly StoredEvent[], entries?: Entries): Promise<ShowEvent> {
  const read = await startReading(scope, events, entries)
  return async (event) => {
    const change = await read(event)
    return change && showChange(event, change)
  }
}

/** How changes of records are shown: to one caller, and to several who share what is read of the audit. */
export const changeViews: Required<Pick<EventFamily, 'prepare' | 'share'>> = {
  prepare: (scope, events) => prepareChanges(scope, events),
  share: (source, events) => {
    const entries = createEntries(source, events)
    return (scope) => prepareChanges(scope, events, entries)
  },
}

/**
 * Prepares reading changes of records, in their order; undefined for one of which the caller may read nothing. Values are read in steps, so
 * that those of events that are not read fill no memory.
 */
export async function startReading(
  scope: Scope,
  events: readonly StoredEvent[],
  entries?: Entries,
): Promise<(event: StoredEvent) => Promise<ReadChange | undefined>> {
  const accesses = new Map<string, EventAccess | undefined>()
  for (const { topic } of events) if (!accesses.has(topic)) accesses.set(topic, await findEventAccess(scope, topic))
  const readable = (event: StoredEvent) => isOfPresentType(event, accesses.get(event.topic))
  const { headOf, valuesOf } = entries ?? createEntries(scope, events.filter(readable))
  return async (event) => {
    const access = accesses.get(event.topic)
    if (!isOfPresentType(event, access)) return undefined
    const head = await headOf(event.id)
    const entry = head && (await valuesOf(event.id))
    if (!entry) return undefined
    const { before, after } = entry
    const kept = event.kept ?? {}
    const isUpdate = before !== null && after !== null
    const has = isUpdate ? (key: string) => Object.hasOwn(after, key) || Object.hasOwn(kept, key) : () => true
    return { ...entry, head, access, writing: { revision: head.type_revision, at: event.at }, has }
  }
}

/** Changes of an earlier type of the key are of records that no present rule is about. Ids hold milliseconds. */
const isOfPresentType = ({ at }: StoredEvent, access: EventAccess | undefined): access is EventAccess =>
  access !== undefined && access.type.createdAt.slice(0, 23) <= at.slice(0, 23)

/** Which records and fields the caller saw before and after a change, by its rules of now. */
interface Seen {
  readonly record: StoredRecord
  readonly isSeen: boolean
  /** Whether it shows the value of a key. */
  readonly shows: (key: string) => boolean
}

function showChange(event: StoredEvent, change: ReadChange): ShownEvent | undefined {
  const { head, before, after, access } = change
  const seenOf = (values: JsonValues | null) => values && see(event, change, values)
  const [earlier, later] = [seenOf(before), seenOf(after)]
  const data = describeChange(access.type, before, after, earlier?.isSeen ? earlier : undefined, later?.isSeen ? later : undefined)
  if (!data) return undefined
  return {
    actor: { id: head.actor_id, type: head.actor_type },
    cause: { kind: head.cause_kind ?? (head.actor_type === 'system' ? 'system' : 'request'), id: head.cause_id },
    subject: { object_type: event.topic, id: event.subjectId },
    data,
  }
}

/** What the caller sees of the record with the values before or after a change. */
export function see(event: ChangeRow, { access, writing, has }: ReadChange, values: JsonValues): Seen {
  const { type, showsEarlierFields } = access
  const created_at = event.createdAt ?? event.at
  const snapshot = {
    entryId: event.id,
    id: event.subjectId,
    created_by: event.createdBy,
    created_at,
    updated_at: event.updatedAt ?? event.at,
    values: { ...event.kept, ...values },
    writing,
  }
  const record = snapshotToRecord(type, snapshot)
  const readable = access.of((key) => has(key) && isOfPresentField(type, key, writing))
  const visible = readable.visibleFields(record)
  const shows = (key: string) => (isOfPresentField(type, key, writing) ? visible.has(key) : showsEarlierFields)
  return { record, isSeen: readable.test(record), shows }
}

/** The values that are shown, in the order of the type's fields; those of fields that are gone come last. */
function pick({ fields, fieldByKey }: RecordType, values: JsonValues, shows: (key: string) => boolean): JsonValues {
  const keys = [...fields.map(({ key }) => key), ...Object.keys(values).filter((key) => !fieldByKey.has(key))]
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(values, key) && shows(key)).map((key) => [key, values[key]]))
}

/**
 * What a change shows: `earlier` and `later` are what was seen before and after it, undefined where the record was not seen. Undefined for a
 * record that was never seen, and for an update of which no changed value is visible.
 */
function describeChange(
  type: RecordType,
  before: JsonValues | null,
  after: JsonValues | null,
  earlier: Seen | undefined,
  later: Seen | undefined,
) {
  if (!earlier && !later) return undefined
  if (!later)
    return { view: 'left', before: before && !after && earlier ? pick(type, before, earlier.shows) : null, after: null, changed: [] }
  const values = pick(type, after ?? {}, later.shows)
  const changed = Object.keys(values)
  if (!earlier) return { view: 'entered', before: null, after: values, changed }
  if (changed.length === 0) return undefined
  return { view: 'changed', before: pick(type, before ?? {}, (key) => earlier.shows(key) && later.shows(key)), after: values, changed }
}
