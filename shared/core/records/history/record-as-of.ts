import { requireRecordAccess } from '#shared/core/records/access.ts'
import { firstIdAfter, firstIdFrom } from '#shared/core/records/audit/schemas.ts'
import { isOfPresentField, type Writing } from '#shared/core/records/earlier-fields.ts'
import { type EventAccess, findEventAccess } from '#shared/core/records/events/event-access.ts'
import { findCreation, findLastEntry, findLife, findValuesUntil } from '#shared/core/records/history/store.ts'
import { readFieldKeys, readFieldSelection } from '#shared/core/records/query/read-search.ts'
import { findRecord } from '#shared/core/records/read.ts'
import { emptyValues, type RecordView, type StoredRecord, toRecordView, toValuesView } from '#shared/core/records/record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { asSearch } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** A record at some time: with its values in JSON form, and the keys of values on which no rule can be tested. */
interface State {
  readonly record: StoredRecord
  readonly values: Readonly<Record<string, unknown>>
  readonly unknown: ReadonlySet<string>
}

/** A value in JSON form, and when it was written. */
type WrittenValue = readonly [key: string, value: unknown, writing: Writing]

/**
 * A record as it was at an instant, by the fields that its type has now (docs/contract/records.md#a-record-as-it-was). The caller's rules of
 * now must allow it as it is, or as it was last, and as it was then; of its fields those are shown that are visible both times. Throws
 * NOT_FOUND for one that is not shown, was not yet made or was gone; VALIDATION_ERROR for a text that is no instant.
 */
export async function getRecordAsOf(scope: Scope, typeKey: string, recordId: string, asOf: string, fields?: string): Promise<RecordView> {
  const type = await requireRecordType(scope, typeKey)
  requirePermission(scope, 'audit:read', typeKey)
  const selected = readFieldSelection(type, requireRecordAccess(scope, type, 'records:read'), readFieldKeys(fields))
  const until = firstIdAfter(asOf, 'as_of')
  const access = await findEventAccess(scope, typeKey)
  if (!access || !isUuid(recordId)) throw problem('NOT_FOUND')
  // Ids hold milliseconds.
  const place = { workspaceId: scope.workspace.id, recordId, objectType: typeKey, from: firstIdFrom(`${type.createdAt.slice(0, 23)}Z`) }
  const stored = await findRecord(scope, type, recordId)
  const now = stored ? stateOf(type, stored) : await findLastState(scope, type, place)
  const visibleNow = now && visibleIn(access, now)
  if (!visibleNow) throw problem('NOT_FOUND')
  // An entry's instant may be a moment after the record's own, so `updated_at` as as_of is the present record.
  const at = toUtcInstant(asOf) ?? ''
  const isPresent = stored !== undefined && stored.updated_at <= at
  const then = isPresent ? now : await findEarlierState(scope, type, { ...place, until }, now.record, at)
  const visibleThen = then && visibleIn(access, then)
  if (!visibleThen) throw problem('NOT_FOUND')
  const visible = visibleNow.intersection(visibleThen)
  const shown = selected ? visible.intersection(selected) : visible
  const { values: _, ...heading } = toRecordView(type, then.record, new Set())
  return {
    ...heading,
    values: Object.fromEntries(type.fields.flatMap(({ key }) => (shown.has(key) ? [[key, then.values[key] ?? null]] : []))),
  }
}

interface Place {
  readonly workspaceId: string
  readonly recordId: string
  readonly objectType: string
  readonly from: string
}

const stateOf = (type: RecordType, record: StoredRecord): State => ({
  record,
  values: toValuesView(type, record.values),
  unknown: new Set(),
})

/** A deleted record as it was last; undefined for one that was never there, or went with an earlier type of the key. */
async function findLastState({ db }: Scope, type: RecordType, place: Place): Promise<State | undefined> {
  const last = await firstRow(db, findLastEntry(place))
  if (!last?.values) return undefined
  const writing = { revision: last.type_revision, at: last.created_at }
  const { record_created_by: created_by, record_created_at, created_at: updated_at } = last
  const heading = { id: place.recordId, object_type: type.key, created_by, created_at: record_created_at ?? updated_at, updated_at }
  return buildState(
    type,
    heading,
    Object.entries(last.values).map(([key, value]) => [key, value, writing]),
  )
}

/** The record as it was before the entry with the id `until`; undefined when it was not yet made, or was gone. */
async function findEarlierState(
  scope: Scope,
  type: RecordType,
  place: Place & { readonly until: string },
  record: StoredRecord,
  at: string,
): Promise<State | undefined> {
  const { db } = scope
  const life = await firstRow(db, findLife(place))
  if (life?.action !== 'record.created') {
    // The entry's millisecond may be a later one than that of `created_at`, at which the record was there.
    const creation = record.created_at <= at ? await firstRow(db, findCreation(place)) : undefined
    if (!creation || creation.id < place.until) return undefined
    return findEarlierState(scope, type, { ...place, until: firstIdAfter(creation.created_at, 'as_of') }, record, at)
  }
  const rows = await db.query(asSearch(findValuesUntil({ ...place, from: life.id }), 'as_of'))
  return buildState(
    type,
    headingAt(record, life),
    rows.map(({ key, value, type_revision, created_at }) => [key, value, { revision: type_revision, at: created_at }]),
  )
}

type Heading = Omit<StoredRecord, 'values'>

/** The heading after the last change until then. Entries keep milliseconds, so a record that was only created has its own time. */
const headingAt = (record: StoredRecord, { created_at, changed_at }: { created_at: string; changed_at: string }): Heading => ({
  ...record,
  updated_at: changed_at === created_at ? record.created_at : changed_at,
})

/**
 * The state of these values. One that belongs to no present field, or that its field no longer accepts, may have met or failed any rule then:
 * its key is unknown.
 */
function buildState(
  type: RecordType,
  { id, object_type, created_by, created_at, updated_at }: Heading,
  written: readonly WrittenValue[],
): State {
  const stored = emptyValues()
  const values: Record<string, unknown> = {}
  const unknown = new Set<string>()
  for (const [key, value, writing] of written) {
    const field = type.fieldByKey.get(key)
    if (!field || value === null) continue
    if (!isOfPresentField(type, key, writing)) {
      unknown.add(key)
      continue
    }
    values[key] = value
    try {
      stored[key] = fieldKinds[field.type].parse(value, field, { path: key, defaultCurrency: '' })
    } catch {
      unknown.add(key)
    }
  }
  return { record: { id, object_type, created_by, created_at, updated_at, values: stored }, values, unknown }
}

/** The fields of a state that the caller may see; undefined when it may not see the record. */
function visibleIn({ of }: EventAccess, { record, unknown }: State): ReadonlySet<string> | undefined {
  const access = of((key) => !unknown.has(key))
  return access.test(record) ? access.visibleFields(record) : undefined
}
