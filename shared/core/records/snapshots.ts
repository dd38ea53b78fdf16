import { findValuesOfEntries } from '#shared/core/records/audit/store.ts'
import { emptyValues, type RecordView, type StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** A record after one change, or before its deletion. */
export interface RecordSnapshot extends Omit<RecordView, 'object_type'> {
  /** Id of the change's audit entry, which is the event. */
  readonly entryId: string
  /** In JSON form by field key, without empty values. */
  readonly values: Readonly<Record<string, unknown>>
}

interface Heading extends Pick<RecordSnapshot, 'created_by' | 'created_at' | 'updated_at'> {
  /** Present for updates. For creations and deletions the audit entry holds the values. */
  readonly values?: RecordSnapshot['values']
}

/**
 * The snapshots of a delivery's changes, in the order of the events; empty when no listener of the subscriber asked for snapshots. Runs one
 * statement for creations and deletions, none for updates.
 */
export async function readSnapshots({ db }: Pick<Scope, 'db'>, delivery: EventDelivery): Promise<RecordSnapshot[]> {
  const headings = delivery.snapshots as readonly Heading[] | undefined
  if (!headings) return []
  const valuesByEntryId = new Map<string, RecordSnapshot['values']>()
  if (delivery.event !== 'updated') {
    const rows = await db.query(findValuesOfEntries({ workspaceId: delivery.workspaceId, ids: delivery.entryIds }))
    for (const { id, values } of rows) valuesByEntryId.set(id, values)
  }
  return delivery.entryIds.flatMap((entryId, index) => {
    const [id, heading] = [delivery.subjectIds[index], headings[index]]
    if (id === undefined || heading === undefined) return []
    const { created_by, created_at, updated_at, values = valuesByEntryId.get(entryId) ?? {} } = heading
    return { entryId, id, created_by, created_at: toUtc(created_at), updated_at: toUtc(updated_at), values }
  })
}

/** PostgreSQL ends an instant in JSON with `+00:00` and omits trailing zeros. */
const toUtc = (instant: string): string => toUtcInstant(instant) ?? instant

/**
 * Converts a snapshot to the form that rules are tested on, with the current type metadata. Deleted fields are omitted; a value that its
 * field no longer accepts becomes null.
 */
export function snapshotToRecord(type: RecordType, { id, created_by, created_at, updated_at, values }: RecordSnapshot): StoredRecord {
  const stored = emptyValues()
  for (const field of type.fields) {
    const value = Object.hasOwn(values, field.key) ? (values[field.key] ?? null) : null
    if (value === null) continue
    try {
      stored[field.key] = fieldKinds[field.type].parse(value, field, { path: field.key, defaultCurrency: '' })
    } catch {
      stored[field.key] = null
    }
  }
  return { id, object_type: type.key, created_by, created_at, updated_at, values: stored }
}
