import { recordAccessFor } from '#shared/core/records/access.ts'
import { auditSlots } from '#shared/core/records/audit/audit-values.ts'
import { checkRecordGuards } from '#shared/core/records/change/check-guards.ts'
import { findTestedKeys, keptValues } from '#shared/core/records/change/kept-values.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { findPrecomputedValues, type PrecomputedRecords } from '#shared/core/records/compute/precompute.ts'
import { toDuplicateProblem } from '#shared/core/records/duplicate-value.ts'
import { parseValues, requireRequiredValues } from '#shared/core/records/input.ts'
import { findRecord } from '#shared/core/records/read.ts'
import { emptyValues, requireVersion, type StoredRecord, toColumnValues, type Values } from '#shared/core/records/record.ts'
import { snapshotValues } from '#shared/core/records/snapshots.ts'
import { updateRecord } from '#shared/core/records/store.ts'
import { noteLongRecord } from '#shared/core/records/text-size.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { isSameValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { wakeAfterChange, wantsSnapshots } from '#shared/platform/events/listen.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { nextInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Changes the fields that were sent; null clears one. Throws NOT_FOUND when the caller may not read the record, FORBIDDEN when it may read
 * but not change it, VALIDATION_ERROR for a broken rule, a required field without a value or a changed immutable field, DUPLICATE_VALUE
 * when another record holds a unique value, PRECONDITION_FAILED when `ifMatch` names another version, and the problems of guards
 * (shared/features.ts). The rights to read and to change are tested on the record as stored, not as it becomes. `precomputed` holds values
 * computed before the record was locked.
 */
export async function changeRecord(...change: Parameters<typeof writeChanges>): Promise<void> {
  await writeChanges(...change)
}

/** Same as `changeRecord`. Returns whether anything was written: false where every value was the stored one. */
export async function writeChanges(
  scope: Scope,
  type: RecordType,
  recordId: string,
  input: Readonly<Record<string, unknown>>,
  ifMatch = '',
  precomputed?: PrecomputedRecords,
): Promise<boolean> {
  const sent = parseValues(type, input, { defaultCurrency: scope.workspace.default_currency })
  return scope.db.transaction(async (tx) => {
    const inside = within(scope, tx)
    const stored = await requireChangeable(inside, type, recordId, 'records:update')
    requireVersion(stored, ifMatch)
    return applyChanges(inside, type, stored, sent, findPrecomputedValues(precomputed, type, stored, input))
  })
}

/** Locks and returns the stored record. Throws NOT_FOUND when the caller may not read it, FORBIDDEN when it may not do the action. */
export async function requireChangeable(
  scope: Scope,
  type: RecordType,
  recordId: string,
  action: 'records:update' | 'records:delete',
): Promise<StoredRecord> {
  const stored = await findRecord(scope, type, recordId, true)
  if (!stored || !recordAccessFor(scope, type, 'records:read').test(stored)) throw problem('NOT_FOUND')
  if (!recordAccessFor(scope, type, action).test(stored)) throw problem('FORBIDDEN', `Needs ${action} on this record`)
  return stored
}

/**
 * Writes the fields of a locked record whose values change, computed fields included. Returns false when none changes. `computed` holds the
 * values of the computed fields if they were computed before. Checks no rights. Throws like `changeRecord` for values.
 */
export async function applyChanges(
  scope: Scope,
  type: RecordType,
  stored: StoredRecord,
  sent: Values,
  computed?: Values,
): Promise<boolean> {
  const next = Object.assign(emptyValues(), stored.values, sent)
  if (computed) Object.assign(next, computed)
  else await computeValues(scope, type, next)
  const fields = changedFields(scope, type, stored, sent, next)
  requireRequiredValues(type, next)
  requireImmutableUnchanged(scope, type, stored, sent, fields)
  if (fields.length === 0) return false
  await checkRecordGuards(scope, type, { id: stored.id, before: stored.values, after: next }, fields)
  await noteLongRecord(scope, type, next)
  const [before, after] = [emptyValues(), emptyValues()]
  for (const { key } of fields) {
    before[key] = stored.values[key] ?? null
    after[key] = next[key] ?? null
  }
  try {
    await scope.db.query(
      updateRecord(type)({
        ...toColumnValues(type.fields, after),
        ...auditSlots(scope, type, before, after),
        sent: type.fields.map((field) => fields.includes(field)),
        next: nextInstant(stored.updated_at),
        kept: await keptOf(scope, type, next, fields),
        snapshot: await snapshotOf(scope, type, next),
        id: stored.id,
      }),
    )
    await wakeAfterChange(scope, type.key, 'updated')
    return true
  } catch (error) {
    throw toDuplicateProblem(type, error)
  }
}

/**
 * The fields to write: those whose values change, and sent ones that the caller may not see. A hidden value is written even if it is the
 * same: otherwise the version of the record would tell that it is.
 */
function changedFields(scope: Scope, type: RecordType, stored: StoredRecord, sent: Values, next: Values): Field[] {
  const isSame = ({ key }: Field) => isSameValue(next[key] ?? null, stored.values[key] ?? null)
  if (!type.fields.some((field) => field.key in sent && isSame(field))) return type.fields.filter((field) => !isSame(field))
  const visible = recordAccessFor(scope, type, 'records:read').visibleFields(stored)
  return type.fields.filter((field) => !isSame(field) || (field.key in sent && !visible.has(field.key)))
}

/** The sent fields that a change would write (`changedFields`), without those that formulas compute from them. */
export const findWrittenFields = (scope: Scope, type: RecordType, stored: StoredRecord, sent: Values): Field[] =>
  changedFields(scope, type, stored, sent, Object.assign(emptyValues(), stored.values, sent))

/** What the event keeps of the fields that do not change, as JSON text; null for nothing. */
async function keptOf(scope: Scope, type: RecordType, next: Values, changed: readonly Field[]): Promise<string | null> {
  const kept = keptValues(type, next, (await findTestedKeys(scope, type)).difference(new Set(changed.map(({ key }) => key))))
  return kept && JSON.stringify(kept)
}

/** All values of a record as JSON text, for subscribers that want snapshots of updates; null when none does. */
const snapshotOf = async (scope: Scope, type: RecordType, next: Values): Promise<string | null> =>
  (await wantsSnapshots(scope, type.key)) ? JSON.stringify(snapshotValues(type, next)) : null

/**
 * Sending an immutable field that the caller may not see counts as a change, whatever the value: otherwise the stored value could be found
 * by trying values.
 */
function requireImmutableUnchanged(scope: Scope, type: RecordType, stored: StoredRecord, sent: Values, changed: readonly Field[]): void {
  const immutable = type.fields.filter((field) => field.immutable && field.key in sent)
  if (immutable.length === 0) return
  const visible = recordAccessFor(scope, type, 'records:read').visibleFields(stored)
  const changedField = immutable.find((field) => changed.includes(field) || !visible.has(field.key))
  if (changedField) throw problem('VALIDATION_ERROR', `values.${changedField.key} cannot change after creation`)
}
