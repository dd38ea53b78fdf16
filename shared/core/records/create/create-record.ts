import { recordAccessFor, requireRecordAccess } from '#shared/core/records/access.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { requireValidNumbers, storeNumbered } from '#shared/core/records/create/auto-numbers.ts'
import { countAllRecords, lockRecordCap } from '#shared/core/records/create/counts-store.ts'
import { completeValues, type InputContext, parseValues } from '#shared/core/records/input.ts'
import { toVisibleView } from '#shared/core/records/read.ts'
import { type RecordView, type StoredRecord, toRecordView, type Values } from '#shared/core/records/record.ts'
import { withinPlan } from '#shared/core/scope/plan-cap.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank } from '#shared/core/types/field-kinds/value.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { toInstant } from '#shared/platform/kernel/time/instant.ts'

/**
 * Creates a record from a caller's input and returns it as the caller sees it. Throws VALIDATION_ERROR that names the field, FORBIDDEN when
 * the caller's rules do not allow these values, as sent or as stored, DUPLICATE_VALUE when another record holds a unique value,
 * LIMIT_EXCEEDED at the free plan's cap.
 */
export async function createRecord(scope: Scope, type: RecordType, input: Readonly<Record<string, unknown>>): Promise<RecordView> {
  requireRecordAccess(scope, type, 'records:create')
  const values = readNewValues(scope, type, 'records:create', (context) => parseValues(type, input, context))
  const record = await withinRecordCap(scope, 1, (inside) => storeNewRecord(inside, type, 'records:create', values))
  const access = recordAccessFor(scope, type, 'records:read')
  return access.test(record) ? toVisibleView(type, record, access) : toRecordView(type, record, noFields)
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

/** Fills in numbers and computed fields and stores a new record. Throws like `requireStorable` and `insertNewRecord`. */
export const storeNewRecord = (scope: Scope, type: RecordType, action: CreateAction, given: Values): Promise<StoredRecord> =>
  storeNumbered(scope, type, given, {
    isReplaceable: (field) => field.autogen !== '' && isBlank(given[field.key] ?? null),
    async complete(values) {
      await computeValues(scope, type, values)
      requireStorable(scope, type, action, values)
    },
  })
