import { recordAccessFor, requireRecordAccess, withRecordType } from '#shared/core/records/access.ts'
import { auditSlots } from '#shared/core/records/audit/audit-values.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { hasAutoNumbers, issueNumbers, requireValidNumbers, skipHeldNumbers } from '#shared/core/records/create/auto-numbers.ts'
import { countAllRecords, lockRecordCap } from '#shared/core/records/create/counts-store.ts'
import { findDuplicateField, toDuplicateProblem } from '#shared/core/records/duplicate-value.ts'
import { completeValues, type InputContext, parseValues } from '#shared/core/records/input.ts'
import { toVisibleView } from '#shared/core/records/read.ts'
import { emptyValues, type RecordView, type StoredRecord, toColumnValues, toRecordView, type Values } from '#shared/core/records/record.ts'
import { insertRecord } from '#shared/core/records/store.ts'
import { noteLongRecord } from '#shared/core/records/text-size.ts'
import { withinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { wakeDispatcher } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Creates a record from a caller's input and returns it as the caller sees it. Throws VALIDATION_ERROR that names the field, FORBIDDEN when
 * the caller's rules do not allow these values, as sent or as stored, DUPLICATE_VALUE when another record holds a unique value,
 * LIMIT_EXCEEDED at the free plan's cap.
 */
export function createRecord(scope: Scope, typeKey: string, input: Readonly<Record<string, unknown>>): Promise<RecordView> {
  return withRecordType(scope, typeKey, async (type) => {
    const values = readNewValues(scope, type, 'records:create', (context) => parseValues(type, input, context))
    const record = await withinRecordCap(scope, 1, (inside) => storeNewRecord(inside, type, 'records:create', values))
    const access = recordAccessFor(scope, type, 'records:read')
    return access.test(record) ? toVisibleView(type, record, access) : toRecordView(type, record, noFields)
  })
}

/** Runs work that adds `adds` records; on the free plan one caller per workspace at a time. Throws LIMIT_EXCEEDED beyond the plan's cap. */
export const withinRecordCap = <T>(scope: Scope, adds: number, work: (scope: Scope) => Promise<T>): Promise<T> =>
  withinPlan(scope, 'records', adds, { lock: lockRecordCap, count: countAllRecords }, work)

/** Fields shown to a caller that may create a record but not read it. */
const noFields: ReadonlySet<string> = new Set()

/** The actions that create records. Rules may give each its own conditions. */
type CreateAction = 'records:create' | 'records:import'

/**
 * Reads the sent values by `read` and completes them with defaults. Throws FORBIDDEN when the caller's rules for the action do not allow
 * the values as sent, VALIDATION_ERROR when a required one is missing.
 */
export function readNewValues(scope: Scope, type: RecordType, action: CreateAction, read: (context: InputContext) => Values): Values {
  requireRecordAccess(scope, type, action)
  const context = { defaultCurrency: scope.workspace.default_currency }
  const sent = read(context)
  const values = completeValues(type, sent, context)
  requireAllowed(scope, type, action, sent)
  return values
}

/** Throws VALIDATION_ERROR when an issued number breaks its field's rules, FORBIDDEN unless the caller's rules allow these values. */
export function requireStorable(scope: Scope, type: RecordType, action: CreateAction, values: Values): void {
  requireValidNumbers(type, values)
  requireAllowed(scope, type, action, values)
}

/** Throws FORBIDDEN unless the caller's rules for the action allow a record with these values. */
function requireAllowed(scope: Scope, type: RecordType, action: CreateAction, values: Values): void {
  const access = recordAccessFor(scope, type, action)
  if (access.verdict === 'all') return
  const draft = { id: null, object_type: type.key, created_by: scope.actor.id, created_at: toInstant(scope.now()), values }
  if (!access.test(draft)) throw problem('FORBIDDEN', `Needs ${action} on ${type.key} with these values`)
}

/**
 * Fills in numbers and computed fields and stores a new record. Skips numbers that other records hold in a unique field. Throws like
 * `requireStorable` and `insertNewRecord`.
 */
export async function storeNewRecord(scope: Scope, type: RecordType, action: CreateAction, given: Values): Promise<StoredRecord> {
  for (;;) {
    const values = Object.assign(emptyValues(), given)
    await issueNumbers(scope, type, [values])
    await computeValues(scope, type, values)
    requireStorable(scope, type, action, values)
    if (!hasAutoNumbers(type)) return insertNewRecord(scope, type, values)
    try {
      return await withSavepoint(scope.db, () => insertNewRecord(scope, type, values))
    } catch (error) {
      const field = findDuplicateField(type, error)
      if (!field || field.autogen === '' || !isBlank(given[field.key] ?? null)) throw error
      await skipHeldNumbers(scope, type, field)
    }
  }
}

/** Stores a new record with its audit entry. Throws DUPLICATE_VALUE that names the field. */
export async function insertNewRecord(scope: Scope, type: RecordType, values: Values): Promise<StoredRecord> {
  await noteLongRecord(scope, type, values)
  const statement = insertRecord(type)({
    ...toColumnValues(type.fields, values),
    ...auditSlots(scope, type, null, values),
    createdBy: scope.actor.id,
    typeId: type.id,
  })
  try {
    const [row] = await scope.db.query(statement)
    if (!row) throw new Error('The statement of a creation returned no row')
    const { id, created_at, dispatched } = row
    wakeDispatcher(scope, { dispatched })
    return { id, object_type: type.key, created_by: scope.actor.id, created_at, updated_at: created_at, values }
  } catch (error) {
    throw toDuplicateProblem(type, error)
  }
}
