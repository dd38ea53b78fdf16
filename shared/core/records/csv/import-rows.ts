import { requireRecordAccess } from '#shared/core/records/access.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { issueNumbers } from '#shared/core/records/create/auto-numbers.ts'
import { readNewValues, requireStorable, storeNewRecord as storeOne } from '#shared/core/records/create/create-record.ts'
import { insertManyRecords } from '#shared/core/records/create/insert-many.ts'
import { withinRecordCap } from '#shared/core/records/create/record-quota.ts'
import { matchColumns } from '#shared/core/records/csv/header.ts'
import type { CsvRow } from '#shared/core/records/csv/read.ts'
import { type InputContext, isComputed } from '#shared/core/records/input.ts'
import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { parseCell } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

/** A row that was not imported, counted from 1 without the header, and why. */
export interface RefusedRow {
  readonly row: number
  readonly message: string
}

type Columns = readonly (Field | null)[]

/** A row whose values its caller may create. */
interface Draft {
  readonly row: number
  readonly values: Values
}

/** The field that each column of a header fills, null for one that is ignored. Throws VALIDATION_ERROR without any, or with one twice. */
export const requireColumns = (type: RecordType, header: readonly string[]): Columns => matchColumns(header, type.fields)

/**
 * Creates a record of each row that may be one, in the caller's transaction, and returns the others in their order. Blank cells are left
 * unset, so that defaults and numbering apply; the conditions of `records:import` are tested on each row. Throws FORBIDDEN when the caller
 * may import no row at all.
 */
export async function importRows(scope: Scope, type: RecordType, columns: Columns, rows: readonly CsvRow[]): Promise<RefusedRow[]> {
  requireRecordAccess(scope, type, 'records:import')
  const drafts: Draft[] = []
  const refused: RefusedRow[] = []
  for (const row of rows) {
    const read = 'error' in row ? row.error : draftOf(scope, type, columns, row.cells)
    if (typeof read === 'string') refused.push({ row: row.row, message: read })
    else drafts.push({ row: row.row, values: read })
  }
  if (drafts.length > 0) refused.push(...(await store(scope, type, drafts)))
  return refused.sort((one, other) => one.row - other.row)
}

/** The values of a new record, or what is wrong with them. */
function draftOf(scope: Scope, type: RecordType, columns: Columns, cells: readonly string[]): Values | string {
  try {
    return readNewValues(scope, type, 'records:import', (context) => valuesOf(columns, cells, context))
  } catch (error) {
    return complaintOf(error)
  }
}

function valuesOf(columns: Columns, cells: readonly string[], { defaultCurrency }: InputContext): Values {
  const values = emptyValues()
  for (const [index, field] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (field === null || isComputed(field) || cell === '') continue
    values[field.key] = parseCell(cell, field, { path: `values.${field.key}`, defaultCurrency })
  }
  return values
}

/** Stores the drafts in one statement, and one by one those that it leaves out or, where there is no room for so many, all. */
async function store(scope: Scope, type: RecordType, drafts: readonly Draft[]): Promise<RefusedRow[]> {
  const { left, refused } = await storeTogether(scope, type, drafts)
  for (const { row, values } of left) {
    try {
      await withSavepoint(scope.db, () => withinRecordCap(scope, 1, (inside) => storeOne(inside, type, 'records:import', values)))
    } catch (error) {
      refused.push({ row, message: complaintOf(error) })
    }
  }
  return refused
}

/** What came of storing drafts in one statement: some are still to be stored, some may not be. */
interface Outcome {
  readonly left: Draft[]
  readonly refused: RefusedRow[]
}

/** Room is asked for first and numbers are taken after it, as a creation does, so that the two never wait for each other. */
async function storeTogether(scope: Scope, type: RecordType, drafts: readonly Draft[]): Promise<Outcome> {
  try {
    return await withinRecordCap(scope, drafts.length, async (inside) => {
      const numbered = drafts.map((draft) => ({ draft, values: Object.assign(emptyValues(), draft.values) }))
      await issueNumbers(
        inside,
        type,
        numbered.map(({ values }) => values),
      )
      const outcome: Outcome = { left: [], refused: [] }
      for await (const lot of filledLots(inside, type, numbered, outcome.refused)) {
        const positions = await insertManyRecords(
          inside,
          type,
          lot.map(({ values }) => values),
        )
        outcome.left.push(...positions.flatMap((position) => lot[position]?.draft ?? []))
      }
      return outcome
    })
  } catch (error) {
    if (error instanceof Problem && error.code === 'LIMIT_EXCEEDED') return { left: [...drafts], refused: [] }
    throw error
  }
}

/** A draft, and beside what it was given the values that the record makes itself. */
interface Numbered {
  readonly draft: Draft
  readonly values: Values
}

/** What is computed and stored at a time, about: formulas make long texts of short rows, and may take 50 ms for each. */
const perLot = { text: 1_000_000, ms: 100 }

/** Fills in computed fields, as many drafts at a time as one statement may store; those that may not be stored so are `refused`. */
async function* filledLots(
  scope: Scope,
  type: RecordType,
  drafts: readonly Numbered[],
  refused: RefusedRow[],
): AsyncGenerator<readonly Numbered[]> {
  let [lot, text, began]: [Numbered[], number, number] = [[], 0, performance.now()]
  for (const { draft, values: given } of drafts) {
    const values = Object.assign(emptyValues(), given)
    await computeValues(scope, type, values)
    const complaint = complaintAbout(() => requireStorable(scope, type, 'records:import', values))
    if (complaint !== undefined) {
      refused.push({ row: draft.row, message: complaint })
      continue
    }
    lot.push({ draft, values })
    text += textLength(values)
    if (text < perLot.text && performance.now() - began < perLot.ms) continue
    yield lot
    lot = []
    text = 0
    began = performance.now()
  }
  if (lot.length > 0) yield lot
}

function complaintAbout(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return complaintOf(error)
  }
}

/** What is wrong with a row, when it is the row's own fault; a fault of ours is thrown on. */
function complaintOf(error: unknown): string {
  if (error instanceof Problem && error.status < 500) return error.message
  throw error
}
