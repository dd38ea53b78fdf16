import { readNewValues, storeNewRecord as storeOne, withinRecordCap } from '#shared/core/records/create/create-record.ts'
import { columnOfMessage, type ImportPlan, parseCells, type RepeatedRows } from '#shared/core/records/csv/import-plan.ts'
import type { CsvRow } from '#shared/core/records/csv/read.ts'
import type { RefusedRow } from '#shared/core/records/csv/schemas.ts'
import { type Draft, type StoreOutcome, storeTogether } from '#shared/core/records/csv/store-drafts.ts'
import { findMatches, lockMatches, updateMatch } from '#shared/core/records/csv/update-rows.ts'
import { findDuplicateField } from '#shared/core/records/duplicate-value.ts'
import type { StoredRecord, Values } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** What became of the rows of a step; rows that are in none of the numbers created a record. */
interface ImportedRows {
  readonly updated: number
  readonly unchanged: number
  /** In the order of the rows. */
  readonly refused: readonly RefusedRow[]
}

/** A row with the values of its cells. */
interface ReadRow {
  readonly row: number
  readonly sent: Values
}

/** The step while its rows are imported. */
interface Step {
  readonly scope: Scope
  readonly type: RecordType
  readonly plan: ImportPlan
  readonly counts: { updated: number; unchanged: number }
  readonly refused: RefusedRow[]
}

/**
 * Imports rows in the caller's transaction. A row changes the record that holds its value of the plan's key field, or else creates one. Blank
 * cells leave values alone; in a new record defaults and numbering apply. A row whose record the caller may not read is treated as a new
 * record, and is refused as its creation is: with DUPLICATE_VALUE.
 */
export async function importRows(
  scope: Scope,
  type: RecordType,
  plan: ImportPlan,
  rows: readonly CsvRow[],
  repeated: RepeatedRows,
): Promise<ImportedRows> {
  const step: Step = { scope, type, plan, counts: { updated: 0, unchanged: 0 }, refused: [] }
  const read = readRows(step, rows, repeated)
  const drafts = await updateExisting(step, read)
  if (drafts.length > 0) await createOthers(step, drafts)
  return { ...step.counts, refused: step.refused.sort((one, other) => one.row - other.row) }
}

function readRows(step: Step, rows: readonly CsvRow[], repeated: RepeatedRows): ReadRow[] {
  const read: ReadRow[] = []
  for (const row of rows) {
    const first = repeated.get(row.row)
    if ('error' in row) step.refused.push({ row: row.row, message: row.error })
    else if (first !== undefined)
      refuse(step, row.row, `values.${step.plan.keyField?.key} has the value of row ${first}; a file may hold it once`)
    else {
      const sent = attempt(step, row.row, () => parseCells(step.plan, row.cells))
      if (sent) read.push({ row: row.row, sent })
    }
  }
  return read
}

/** Records in memory at once where a type has long ones: each may hold megabytes. */
const longRecordsAtOnce = 10

/** Updates the records that rows name by their key, and returns drafts of the other rows. */
async function updateExisting(step: Step, rows: readonly ReadRow[]): Promise<Draft[]> {
  const { scope, type, plan } = step
  const drafts: Draft[] = []
  const atOnce = type.longRecords ? longRecordsAtOnce : rows.length
  if (plan.keyField && atOnce < rows.length) await lockMatches(scope, type, plan.keyField, rows)
  for (let from = 0; from < rows.length; from += atOnce) {
    const part = rows.slice(from, from + atOnce)
    const matches = plan.keyField ? await findMatches(scope, type, plan.keyField, part) : noMatches
    for (const row of part) {
      const record = matches.get(row)
      if (record) await updateOne(step, row, record)
      else {
        const values = attempt(step, row.row, () => readNewValues(scope, type, 'records:import', () => row.sent))
        if (values) drafts.push({ row: row.row, sent: row.sent, values })
      }
    }
  }
  return drafts
}

const noMatches: ReadonlyMap<ReadRow, StoredRecord> = new Map()

async function updateOne(step: Step, { row, sent }: ReadRow, record: StoredRecord): Promise<void> {
  try {
    step.counts[await updateMatch(step.scope, step.type, record, sent)] += 1
  } catch (error) {
    refuse(step, row, refusalMessage(error))
  }
}

/**
 * Creates the records together, then one by one those that are left: drafts with a unique value that another record holds, or all drafts
 * when the plan's cap has no room for all of them.
 */
async function createOthers(step: Step, drafts: readonly Draft[]): Promise<void> {
  const { left, refused }: StoreOutcome = await storeTogether(step.scope, step.type, drafts, refusalMessage)
  for (const { row, message } of refused) refuse(step, row, message)
  for (const draft of left) {
    try {
      await createOrUpdate(step, draft)
    } catch (error) {
      refuse(step, draft.row, refusalMessage(error))
    }
  }
}

/** Attempts to store one row. Another writer may create or delete the record of its key between a lookup and a creation. */
const maxAttempts = 3

async function createOrUpdate(step: Step, draft: Draft): Promise<void> {
  const { scope, type, plan } = step
  for (let attempts = 1; ; attempts++) {
    const record = plan.keyField && (await findMatches(scope, type, plan.keyField, [draft])).get(draft)
    if (record) return updateOne(step, draft, record)
    try {
      await withSavepoint(scope.db, () => withinRecordCap(scope, 1, (inside) => storeOne(inside, type, 'records:import', draft.values)))
      return
    } catch (error) {
      const isKeyTaken = plan.keyField !== undefined && findDuplicateField(type, error)?.id === plan.keyField.id
      if (!isKeyTaken || attempts === maxAttempts) throw error
    }
  }
}

/** The result of work; undefined when it throws a problem, for which the row is refused. */
function attempt<T>(step: Step, row: number, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    refuse(step, row, refusalMessage(error))
    return undefined
  }
}

function refuse({ plan, refused }: Step, row: number, message: string): void {
  const column = columnOfMessage(plan, message)
  refused.push(column === undefined ? { row, message } : { row, column, message })
}

/** The message of a problem that the row caused. Rethrows any other error. */
function refusalMessage(error: unknown): string {
  if (error instanceof Problem && error.status < 500) return error.message
  throw error
}
