import { recordAccessFor, requireRecordAccess } from '#shared/core/records/access.ts'
import { type BatchOutcome, resolveReferences, type SentValues } from '#shared/core/records/change/batch-references.ts'
import { type BatchOperation, type BatchResult, maxResultText } from '#shared/core/records/change/batch-schemas.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { requireUpsertField } from '#shared/core/records/change/upsert-field.ts'
import type { PrecomputedRecords } from '#shared/core/records/compute/precompute.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { recordByUniqueValue } from '#shared/core/records/query/read-store.ts'
import { findRecord, toVisibleView } from '#shared/core/records/read.ts'
import { toColumnValues } from '#shared/core/records/record.ts'
import { lockRecordsByIds } from '#shared/core/records/store.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import { permits, requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isBlank, parseValue } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { findRecordType, type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

interface BatchOptions {
  /** All or none: throws the first failure with the index of its operation. Locks all named records before the first change. */
  readonly atomic: boolean
  /** The result of `precomputeRecords` for these changes. */
  readonly precomputed?: PrecomputedRecords
  /** Outcomes of the first operations, which were committed in other transactions. */
  readonly earlier?: readonly BatchOutcome[]
  /** The number of operations to be done, those of `earlier` included; default: all. */
  readonly until?: number
}

/**
 * Runs several changes of records in their order, in the caller's transaction. Returns the outcome of each, those of `earlier` first. A
 * failed change does not affect the others unless the batch is atomic; an error with status 500 or above is always thrown.
 */
export async function runBatch(
  scope: Scope,
  operations: readonly BatchOperation[],
  { atomic, precomputed, earlier = [], until = operations.length }: BatchOptions,
): Promise<BatchOutcome[]> {
  if (atomic) await lockNamedRecords(scope, operations)
  const outcomes = [...earlier]
  let text = earlier.reduce((sum, outcome) => sum + textOf(outcome), 0)
  for (const [index, operation] of operations.slice(0, until).entries()) {
    if (index < earlier.length) continue
    try {
      const outcome = await withSavepoint(scope.db, async () => {
        const type = await requireRecordType(scope, operation.type)
        const resolve = (values: SentValues) => resolveReferences(scope, type, values, { operations, outcomes })
        const outcome = await operationHandlers[operation.op]({ scope, type, precomputed, resolve }, operation as never)
        requireTextBelowMax(text + textOf(outcome))
        return outcome
      })
      text += textOf(outcome)
      outcomes.push(outcome)
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      if (atomic) throw problem(error.code, `operations[${index}]: ${error.message}`, { cause: error })
      outcomes.push({ status: error.status, record: null, error: { ...error.toJSON() }, recordId: null })
    }
  }
  return outcomes
}

/** The results of a batch as its caller gets them. */
export const toResults = (outcomes: readonly BatchOutcome[]): BatchResult[] =>
  outcomes.map(({ status, record, error }) => ({ status, record, error }))

/**
 * Locks the named records, in the order of types and ids, one statement for each type, since each has its own table. A missing type is
 * reported by the first change.
 */
async function lockNamedRecords(scope: Scope, operations: readonly BatchOperation[]): Promise<void> {
  const idsByType = new Map<string, string[]>()
  for (const operation of operations) {
    if (!('id' in operation) || !isUuid(operation.id)) continue
    idsByType.set(operation.type, [...(idsByType.get(operation.type) ?? []), operation.id])
  }
  for (const [typeKey, ids] of [...idsByType].sort(([one], [other]) => compareText(one, other))) {
    const type = await findRecordType(scope, typeKey)
    if (type) await scope.db.query(lockRecordsByIds(type)({ ids }))
  }
}

const textOf = ({ record }: BatchResult): number => (record ? textLength(record.values) : 0)

/** Bounds the text of all results: they are in memory at once, and computed fields may be longer than the input. */
function requireTextBelowMax(text: number): void {
  if (text > maxResultText)
    throw problem('VALIDATION_ERROR', `the records of a batch may hold at most ${maxResultText} characters of text; send fewer at once`)
}

type OperationOf<Op extends BatchOperation['op']> = Extract<BatchOperation, { op: Op }>

/** What the handler of an operation works with. */
interface Work {
  readonly scope: Scope
  readonly type: RecordType
  readonly precomputed?: PrecomputedRecords | undefined
  /** The values with the ids of records of earlier operations. It tells about fields, so it follows the check of the permission. */
  readonly resolve: (values: SentValues) => SentValues
}

const operationHandlers: {
  readonly [Op in BatchOperation['op']]: (work: Work, operation: OperationOf<Op>) => Promise<BatchOutcome>
} = {
  create(work, { values }) {
    requireRecordAccess(work.scope, work.type, 'records:create')
    return createOne(work, work.resolve(values ?? {}))
  },
  update: (work, { id, values }) => updateOne(work, id, values),
  async delete({ scope, type }, { id }) {
    requirePermission(scope, 'records:delete', type.key)
    await removeRecord(scope, type, id)
    return { status: 204, record: null, error: null, recordId: null }
  },
  upsert,
}

async function createOne({ scope, type }: Work, values: SentValues): Promise<BatchOutcome> {
  const record = await createRecord(scope, type, values)
  return { status: 201, record: { ...record, values: { ...record.values } }, error: null, recordId: record.id }
}

/** Changes a record. The result holds it as the caller sees it, or null when the change made it unreadable. */
async function updateOne({ scope, type, precomputed, resolve }: Work, id: string, values: SentValues): Promise<BatchOutcome> {
  requirePermission(scope, 'records:update', type.key)
  await changeRecord(scope, type, id, resolve(values), '', precomputed)
  const access = recordAccessFor(scope, type, 'records:read')
  const record = await findRecord(scope, type, id)
  const view = record && access.test(record) ? toVisibleView(type, record, access) : undefined
  return { status: 200, record: view ? { ...view, values: { ...view.values } } : null, error: null, recordId: id }
}

/** Attempts of an upsert. The record that holds the value may change or be deleted between the failed creation and the next lookup. */
const maxUpsertAttempts = 5

/** Changes the record that holds the value of a unique field, or creates one. Of two concurrent upserts one creates, the other changes. */
async function upsert(work: Work, { by, values: sent }: OperationOf<'upsert'>): Promise<BatchOutcome> {
  const { scope, type } = work
  const field = requireUpsertField(scope, type, by, 'by')
  if (!permits(scope, 'records:update', type.key)) requirePermission(scope, 'records:create', type.key)
  const values = work.resolve(sent)
  for (let attempt = 1; ; attempt++) {
    const id = await findRecordIdByUnique(scope, type, field, values)
    if (id !== undefined) return updateOne({ scope, type, resolve: () => values }, id, values)
    try {
      return await withSavepoint(scope.db, () => createOne(work, values))
    } catch (error) {
      const lostRace = error instanceof Problem && error.code === 'DUPLICATE_VALUE' && error.message.startsWith(`values.${by} `)
      if (!lostRace || attempt === maxUpsertAttempts) throw error
    }
  }
}

/**
 * The id of the record that holds the value sent for a unique field, regardless of the caller's rights; undefined when no record holds it.
 * Throws VALIDATION_ERROR when the value is missing.
 */
async function findRecordIdByUnique(scope: Scope, type: RecordType, field: Field, values: SentValues): Promise<string | undefined> {
  const { key } = field
  const value = parseValue(values[key], field, { path: `values.${key}`, defaultCurrency: scope.workspace.default_currency })
  if (isBlank(value)) throw problem('VALIDATION_ERROR', `values.${key} is required`)
  const [holder] = await scope.db.query(recordByUniqueValue(type, field)(toColumnValues([field], { [key]: value })))
  return holder?.id
}
