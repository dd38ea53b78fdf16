import { recordAccessFor } from '#shared/core/records/access.ts'
import { type BatchOperation, type BatchResult, maxResultText } from '#shared/core/records/change/batch-schemas.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { findRecordIdByUnique } from '#shared/core/records/change/find-unique.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import type { PrecomputedRecords } from '#shared/core/records/compute/precompute.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { findRecord, toVisibleView } from '#shared/core/records/read.ts'
import { lockRecordsByIds } from '#shared/core/records/store.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** How the changes of a batch are done. */
interface How {
  /** All or none: throws the first failure, naming its place, and locks all records that it names at its beginning. */
  readonly atomic: boolean
  /** What `computeAhead` gave for these changes. */
  readonly ahead?: PrecomputedRecords
  /** The results of the batch's earlier changes, which were done in other transactions. */
  readonly earlier?: readonly BatchResult[]
}

/**
 * Does several changes of one type's records in their order, in the caller's transaction, each with its own result. A change that fails leaves
 * the others alone unless the batch is atomic.
 */
export async function runBatch(
  scope: Scope,
  typeKey: string,
  operations: readonly BatchOperation[],
  { atomic, ahead, earlier = [] }: How,
): Promise<BatchResult[]> {
  if (atomic) await lockInOrder(scope, typeKey, operations)
  const results: BatchResult[] = []
  let text = earlier.reduce((sum, result) => sum + textOf(result), 0)
  for (const [index, operation] of operations.entries()) {
    try {
      const result = await withSavepoint(scope.db, async () => {
        const done = await kinds[operation.op](scope, typeKey, operation as never, ahead)
        refuseTooMuch(text + textOf(done))
        return done
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

/** A type that is not there is told by the first change. */
async function lockInOrder(scope: Scope, typeKey: string, operations: readonly BatchOperation[]): Promise<void> {
  const ids = operations.flatMap((operation) => ('id' in operation && isUuid(operation.id) ? operation.id : []))
  const type = ids.length === 0 ? undefined : await requireRecordType(scope, typeKey).catch(() => undefined)
  if (type) await scope.db.query(lockRecordsByIds(type)({ ids }))
}

const textOf = ({ record }: BatchResult): number => (record ? textLength(record.values) : 0)

/** All results are in memory at once, and computed fields may be longer than what was sent. */
function refuseTooMuch(text: number): void {
  if (text > maxResultText)
    throw problem('VALIDATION_ERROR', `the records of a batch may hold at most ${maxResultText} characters of text; send fewer at once`)
}

type Of<Op extends BatchOperation['op']> = Extract<BatchOperation, { op: Op }>

/** What each kind of change does. */
const kinds: {
  readonly [Op in BatchOperation['op']]: (
    scope: Scope,
    typeKey: string,
    operation: Of<Op>,
    ahead?: PrecomputedRecords,
  ) => Promise<BatchResult>
} = {
  create: async (scope, typeKey, { values }) => created(scope, typeKey, values ?? {}),
  update: async (scope, typeKey, { id, values }, ahead) => {
    requirePermission(scope, 'records:update', typeKey)
    await changeRecord(scope, typeKey, id, values, '', ahead)
    return changed(scope, typeKey, id)
  },
  delete: async (scope, typeKey, { id }) => {
    requirePermission(scope, 'records:delete', typeKey)
    await removeRecord(scope, typeKey, id)
    return { status: 204, record: null, error: null }
  },
  upsert,
}

async function created(scope: Scope, typeKey: string, values: Readonly<Record<string, unknown>>): Promise<BatchResult> {
  const record = await createRecord(scope, typeKey, values)
  return { status: 201, record: { ...record, values: { ...record.values } }, error: null }
}

/** A changed record as its caller sees it; null when the change made it unreadable. */
async function changed(scope: Scope, typeKey: string, id: string): Promise<BatchResult> {
  const type = await requireRecordType(scope, typeKey)
  const access = recordAccessFor(scope, type, 'records:read')
  const record = await findRecord(scope, type, id)
  const view = record && access.test(record) ? toVisibleView(type, record, access) : undefined
  return { status: 200, record: view ? { ...view, values: { ...view.values } } : null, error: null }
}

/** How often an upsert looks again: whoever held its value may have changed or deleted that record before it was looked for. */
const maxLooks = 5

/** Changes the record that holds the value of a unique field, or creates one; of two at once, one creates and the other changes. */
async function upsert(scope: Scope, typeKey: string, { by, values }: Of<'upsert'>): Promise<BatchResult> {
  for (let look = 1; ; look++) {
    const id = await findRecordIdByUnique(scope, typeKey, by, values)
    if (id !== undefined) {
      requirePermission(scope, 'records:update', typeKey)
      await changeRecord(scope, typeKey, id, values)
      return changed(scope, typeKey, id)
    }
    requirePermission(scope, 'records:create', typeKey)
    try {
      return await withSavepoint(scope.db, () => created(scope, typeKey, values))
    } catch (error) {
      const raced = error instanceof Problem && error.code === 'DUPLICATE_VALUE' && error.message.startsWith(`values.${by} `)
      if (!raced || look === maxLooks) throw error
    }
  }
}
