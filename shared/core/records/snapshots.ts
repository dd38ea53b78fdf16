import { presentValuesView } from '#shared/core/records/audit/audit-values.ts'
import { findReplacedValues, findValuesOfEntries } from '#shared/core/records/audit/store.ts'
import { isOfPresentField, type Writing } from '#shared/core/records/earlier-fields.ts'
import { emptyValues, type RecordView, type StoredRecord, type Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { idTimeMs } from '#shared/platform/kernel/ids.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** A record after one change, or before its deletion. */
export interface RecordSnapshot extends Omit<RecordView, 'object_type'> {
  /** Id of the change's audit entry, which is the event. */
  readonly entryId: string
  /** In JSON form by field key, without empty values. */
  readonly values: Readonly<Record<string, unknown>>
  readonly writing: Writing
}

interface Heading extends Pick<RecordSnapshot, 'created_by' | 'created_at' | 'updated_at'> {
  /** Present for updates, like the next. For creations and deletions the audit entry holds them. */
  readonly values?: RecordSnapshot['values']
  readonly type_revision?: number
}

/** What a snapshot of an update stores besides its heading. */
export const snapshotValues = (type: RecordType, values: Values): Required<Pick<Heading, 'values' | 'type_revision'>> => ({
  values: presentValuesView(type, values),
  type_revision: type.revision,
})

/**
 * The snapshots of a delivery's changes, in the order of the events; empty when no listener of the subscriber asked for snapshots. Runs one
 * statement for creations and deletions, none for updates.
 */
export async function readSnapshots({ db }: Pick<Scope, 'db'>, delivery: EventDelivery): Promise<RecordSnapshot[]> {
  const headings = delivery.snapshots as readonly Heading[] | undefined
  if (!headings) return []
  const { workspaceId, entryIds } = delivery
  const entries = delivery.event === 'updated' ? [] : await db.query(findValuesOfEntries({ workspaceId, ids: entryIds }))
  const entryById = new Map(entries.map((entry) => [entry.id, entry]))
  return entryIds.flatMap((entryId, index) => {
    const [id, heading] = [delivery.subjectIds[index], headings[index]]
    if (id === undefined || heading === undefined) return []
    const { created_by, created_at, updated_at } = heading
    const { values = {}, type_revision } = entryById.get(entryId) ?? heading
    const writing = { revision: type_revision ?? null, at: toInstant(new Date(idTimeMs(entryId))) }
    return { entryId, id, created_by, created_at: toUtc(created_at), updated_at: toUtc(updated_at), values, writing }
  })
}

/** A change of a record: the record after it, or before its deletion, and what an update replaced. */
export interface RecordChange {
  readonly after: RecordSnapshot
  /** The earlier values of the fields that an update wrote, in JSON form; null for empty ones. */
  readonly before: Readonly<Record<string, unknown>>
}

/** The changes of a delivery, as `readSnapshots` gives them. Runs one statement. */
export async function readChanges({ db }: Pick<Scope, 'db'>, delivery: EventDelivery): Promise<RecordChange[]> {
  const snapshots = await readSnapshots({ db }, delivery)
  const { workspaceId, event, entryIds } = delivery
  const rows = event === 'updated' && snapshots.length > 0 ? await db.query(findReplacedValues({ workspaceId, entryIds })) : []
  const before = new Map(rows.map((row) => [row.id, row.before ?? {}]))
  return snapshots.map((after) => ({ after, before: before.get(after.entryId) ?? {} }))
}

/** The record before an update; its other properties are those after it. */
export const beforeChange = (type: RecordType, { after, before }: RecordChange): StoredRecord =>
  snapshotToRecord(type, { ...after, values: { ...after.values, ...before } })

/** PostgreSQL ends an instant in JSON with `+00:00` and omits trailing zeros. */
const toUtc = (instant: string): string => toUtcInstant(instant) ?? instant

/**
 * Converts a snapshot to the form that rules are tested on, with the current type metadata. Values of fields that are gone are omitted, also
 * where another field has their key now; a value that its field no longer accepts becomes null.
 */
export function snapshotToRecord(type: RecordType, snapshot: RecordSnapshot): StoredRecord {
  const { id, created_by, created_at, updated_at, values, writing } = snapshot
  const stored = emptyValues()
  for (const field of type.fields) {
    const isKept = Object.hasOwn(values, field.key) && isOfPresentField(type, field.key, writing)
    const value = isKept ? (values[field.key] ?? null) : null
    if (value === null) continue
    try {
      stored[field.key] = fieldKinds[field.type].parse(value, field, { path: field.key, defaultCurrency: '' })
    } catch {
      stored[field.key] = null
    }
  }
  return { id, object_type: type.key, created_by, created_at, updated_at, values: stored }
}
