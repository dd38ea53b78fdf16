import { valuesOfEntries } from '#shared/core/records/audit/store.ts'
import { emptyValues, type StoredRecord } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'

/** A record as one change left it, or as it was when that deleted it. */
export interface RecordSnapshot {
  /** The audit entry of the change, which is the event. */
  readonly entryId: string
  readonly id: string
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  /** As a response would carry them, by field key, without those that are empty. */
  readonly values: Readonly<Record<string, unknown>>
}

interface Heading extends Pick<RecordSnapshot, 'created_by' | 'created_at' | 'updated_at'> {
  /** Of an update; of the others the audit entry holds them. */
  readonly values?: RecordSnapshot['values']
}

/**
 * The records that changes left, in the order of the events, for a subscriber whose listener asked for snapshots; empty when none did. One
 * statement for creations and deletions, none for updates.
 */
export async function readSnapshots({ db }: Pick<Scope, 'db'>, heard: EventDelivery): Promise<RecordSnapshot[]> {
  const headings = heard.snapshots as readonly Heading[] | undefined
  if (!headings) return []
  const kept = new Map<string, RecordSnapshot['values']>()
  if (heard.event !== 'updated') {
    const rows = await db.query<{ id: string; values: RecordSnapshot['values'] }>(valuesOfEntries(heard.workspaceId, heard.entryIds))
    for (const { id, values } of rows) kept.set(id, values)
  }
  return heard.entryIds.flatMap((entryId, index) => {
    const [id, heading] = [heard.subjectIds[index], headings[index]]
    if (id === undefined || heading === undefined) return []
    const { created_by, created_at, updated_at, values = kept.get(entryId) ?? {} } = heading
    return { entryId, id, created_by, created_at: inUtc(created_at), updated_at: inUtc(updated_at), values }
  })
}

/** PostgreSQL writes `+00:00` for an instant in JSON. */
const inUtc = (instant: string): string => instant.replace('+00:00', 'Z')

/**
 * A snapshot in the form that rules are tested on, by what the type is like now. A field that is gone is left out, and so is a value that its
 * field's type would not read any more.
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
