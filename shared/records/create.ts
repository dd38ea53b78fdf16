import type { Scope } from '#shared/access/scope.ts'
import { problem } from '#shared/kernel/errors.ts'
import { changeSlots } from '#shared/records/audit.ts'
import { withRoom } from '#shared/records/cap.ts'
import { cellsOf } from '#shared/records/cells.ts'
import { conflictOf } from '#shared/records/conflict.ts'
import { completeValues, type InputContext, parseValues } from '#shared/records/input.ts'
import { accessTo, requireAccess, withRecordType } from '#shared/records/picture.ts'
import { visibleView } from '#shared/records/read.ts'
import type { RecordView, StoredRecord, Values } from '#shared/records/record.ts'
import { insertRecord } from '#shared/records/statements.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/**
 * Creates a record from what a caller sent and returns it as the caller sees it. VALIDATION_ERROR names the field; FORBIDDEN when the
 * caller's rules do not allow these values, as sent or as they will be stored; DUPLICATE_VALUE when a unique field holds one already;
 * LIMIT_EXCEEDED at the free plan's cap.
 */
export function createRecord(scope: Scope, typeKey: string, input: Readonly<Record<string, unknown>>): Promise<RecordView> {
  return withRecordType(scope, typeKey, async (type) => {
    const values = newValues(scope, type, 'records:create', (context) => parseValues(type, input, context))
    const record = await withRoom(scope, 1, (inside) => insert(inside, type, values))
    const access = accessTo(scope, type, 'records:read')
    return visibleView(type, record, access)
  })
}

/**
 * The complete values of a new record of those that `read` gives, once the caller's rules for the action allow them both as sent and as
 * they will be stored. Throws FORBIDDEN when they do not, VALIDATION_ERROR when a required one is missing.
 */
export function newValues(
  scope: Scope,
  type: RecordType,
  action: 'records:create' | 'records:import',
  read: (context: InputContext) => Values,
): Values {
  const access = requireAccess(scope, type, action)
  const context = { defaultCurrency: scope.workspace.default_currency }
  const sent = read(context)
  const values = completeValues(type, sent, context)
  if (access.verdict === 'all') return values
  for (const candidate of [sent, values]) {
    if (!access.test(draft(scope, type, candidate))) throw problem('FORBIDDEN', `Needs ${action} on ${type.key} with these values`)
  }
  return values
}

/** Stores a new record with its audit entry. Throws DUPLICATE_VALUE naming the field. */
export async function insert(scope: Scope, type: RecordType, values: Values): Promise<StoredRecord> {
  const fields = type.fields.filter(({ key }) => (values[key] ?? null) !== null)
  const statement = insertRecord(
    type,
    fields,
  )({
    ...cellsOf(fields, values),
    ...changeSlots(scope, type, null, values),
    createdBy: scope.actor.id,
    typeId: type.id,
  })
  try {
    const [row] = await scope.db.query<{ id: string; created_at: string }>(statement)
    const { id, created_at } = row as { id: string; created_at: string }
    return { id, object_type: type.key, created_by: scope.actor.id, created_at, updated_at: created_at, values }
  } catch (error) {
    throw conflictOf(type, error)
  }
}

/** A record that is not stored yet, as rules test it. */
const draft = (scope: Scope, type: RecordType, values: Values) => ({
  id: null,
  object_type: type.key,
  created_by: scope.actor.id,
  created_at: scope.now().toISOString(),
  values,
})
