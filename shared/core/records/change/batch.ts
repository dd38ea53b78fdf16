import { recordAccessFor } from '#shared/core/records/access.ts'
import { type BatchOperation, type BatchResult, maxResultText } from '#shared/core/records/change/batch-schemas.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import type { PrecomputedRecords } from '#shared/core/records/compute/precompute.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { isComputed } from '#shared/core/records/input.ts'
import { recordByUniqueValue } from '#shared/core/records/query/read-store.ts'
import { findRecord, toVisibleView } from '#shared/core/records/read.ts'
import { toColumnValues } from '#shared/core/records/record.ts'
import { lockRecordsByIds } from '#shared/core/records/store.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank, parseValue } from '#shared/core/types/field-kinds/value.ts'
import { findRecordType, type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

interface BatchOptions {
  /** All or none: throws the first failure with the index of its operation. Locks all named records before the first change. */
  readonly atomic: boolean
  /** The result of `precomputeRecords` for these changes. */
  readonly precomputed?: PrecomputedRecords
  /** Results of earlier changes of the batch, committed in other transactions. */
  readonly earlier?: readonly BatchResult[]
}

/**
 * Runs several changes of one type's records in their order, in the caller's transaction. Returns one result per change. A failed change
 * does not affect the others unless the batch is atomic; an error with status 500 or above is always thrown.
 */
export async function runBatch(
  scope: Scope,
  typeKey: string,
  operations: readonly BatchOperation[],
  { atomic, precomputed, earlier = [] }: BatchOptions,
): Promise<BatchResult[]> {
  if (atomic) await lockNamedRecords(scope, typeKey, operations)
  const results: BatchResult[] = []
  let text = earlier.reduce((sum, result) => sum + textOf(result), 0)
  for (const [index, operation] of operations.entries()) {
    try {
      const result = await withSavepoint(scope.db, async () => {
        const result = await operationHandlers[operation.op](
          scope,
          await requireRecordType(scope, typeKey),
          operation as never,
          precomputed,
        )
        requireTextBelowMax(text + textOf(result))
        return result
      })
      text += textOf(result)
      results.push(result)
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      if (atomic) throw problem(error.code, `operations[${index}]: ${error.message}`, { cause: error })
      results.push({ status: error.status, record: null, error: { ...error.toJSON() } })
    }
  }
  return results
}

/** Locks the named records by id, in one statement. A missing type is reported by the first change. */
async function lockNamedRecords(scope: Scope, typeKey: string, operations: readonly BatchOperation[]): Promise<void> {
  const ids = operations.flatMap((operation) => ('id' in operation && isUuid(operation.id) ? operation.id : []))
  const type = ids.length === 0 ? undefined : await findRecordType(scope, typeKey)
  if (type) await scope.db.query(lockRecordsByIds(type)({ ids }))
}

const textOf = ({ record }: BatchResult): number => (record ? textLength(record.values) : 0)

/** Bounds the text of all results: they are in memory at once, and computed fields may be longer than the input. */
function requireTextBelowMax(text: number): void {
  if (text > maxResultText)
    throw problem('VALIDATION_ERROR', `the records of a batch may hold at most ${maxResultText} characters of text; send fewer at once`)
}

type OperationOf<Op extends BatchOperation['op']> = Extract<BatchOperation, { op: Op }>

const operationHandlers: {
  readonly [Op in BatchOperation['op']]: (
    scope: Scope,
    type: RecordType,
    operation: OperationOf<Op>,
    precomputed?: PrecomputedRecords,
  ) => Promise<BatchResult>
} = {
  create: (scope, type, { values }) => createOne(scope, type, values ?? {}),
  update: (scope, type, { id, values }, precomputed) => updateOne(scope, type, id, values, precomputed),
  async delete(scope, type, { id }) {
    requirePermission(scope, 'records:delete', type.key)
    await removeRecord(scope, type, id)
    return { status: 204, record: null, error: null }
  },
  upsert,
}

type SentValues = Readonly<Record<string, unknown>>

async function createOne(scope: Scope, type: RecordType, values: SentValues): Promise<BatchResult> {
  const record = await createRecord(scope, type, values)
  return { status: 201, record: { ...record, values: { ...record.values } }, error: null }
}

/** Changes a record. The result holds it as the caller sees it, or null when the change made it unreadable. */
async function updateOne(
  scope: Scope,
  type: RecordType,
  id: string,
  values: SentValues,
  precomputed?: PrecomputedRecords,
): Promise<BatchResult> {
  requirePermission(scope, 'records:update', type.key)
  await changeRecord(scope, type, id, values, '', precomputed)
  const access = recordAccessFor(scope, type, 'records:read')
  const record = await findRecord(scope, type, id)
  const view = record && access.test(record) ? toVisibleView(type, record, access) : undefined
  return { status: 200, record: view ? { ...view, values: { ...view.values } } : null, error: null }
}

/** Attempts of an upsert. The record that holds the value may change or be deleted between the failed creation and the next lookup. */
const maxUpsertAttempts = 5

/** Changes the record that holds the value of a unique field, or creates one. Of two concurrent upserts one creates, the other changes. */
async function upsert(scope: Scope, type: RecordType, { by, values }: OperationOf<'upsert'>): Promise<BatchResult> {
  for (let attempt = 1; ; attempt++) {
    const id = await findRecordIdByUnique(scope, type, by, values)
    if (id !== undefined) return updateOne(scope, type, id, values)
    try {
      return await withSavepoint(scope.db, () => createOne(scope, type, values))
    } catch (error) {
      const lostRace = error instanceof Problem && error.code === 'DUPLICATE_VALUE' && error.message.startsWith(`values.${by} `)
      if (!lostRace || attempt === maxUpsertAttempts) throw error
    }
  }
}

/**
 * The id of the record that holds the value sent for a unique field, regardless of the caller's rights; undefined when no record holds it.
 * Throws VALIDATION_ERROR when the field is not unique, is computed or could be hidden from the caller, or when the value is missing.
 */
async function findRecordIdByUnique(scope: Scope, type: RecordType, by: string, values: SentValues): Promise<string | undefined> {
  const field = type.fieldByKey.get(by)
  // The value of a computed field may differ from the one sent.
  if (!field?.unique || isComputed(field) || recordAccessFor(scope, type, 'records:read').hideable.has(by)) {
    throw problem('VALIDATION_ERROR', `by must be the key of a unique field of ${type.key} that you may read and send, got ${by}`)
  }
  const value = parseValue(values[by], field, { path: `values.${by}`, defaultCurrency: scope.workspace.default_currency })
  if (isBlank(value)) throw problem('VALIDATION_ERROR', `values.${by} is required`)
  const [holder] = await scope.db.query(recordByUniqueValue(type, field)(toColumnValues([field], { [by]: value })))
  return holder?.id
}
