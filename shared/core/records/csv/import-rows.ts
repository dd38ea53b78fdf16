import { requireRecordAccess } from '#shared/core/records/access.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { issueNumbers } from '#shared/core/records/create/auto-numbers.ts'
import { readNewValues, requireStorable, storeNewRecord as storeOne, withinRecordCap } from '#shared/core/records/create/create-record.ts'
import { insertManyRecords } from '#shared/core/records/create/insert-many.ts'
import type { CsvRow } from '#shared/core/records/csv/read.ts'
import { type InputContext, isComputed } from '#shared/core/records/input.ts'
import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { textLength } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { parseCell } from '#shared/core/types/field-kinds/value.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** A row that was not imported, and the reason. `row` counts from 1 without the header. */
export interface RefusedRow {
  readonly row: number
  readonly message: string
}

type Columns = readonly (Field | null)[]

/** A row that was read, with values that the caller may create. */
interface Draft {
  readonly row: number
  readonly values: Values
}

/**
 * The field of each header column, null for a column that names no field (docs/contract/records.md#files). Throws VALIDATION_ERROR when two
 * columns name the same field or no column names a field.
 */
export function matchColumns<Field extends { readonly key: string }>(
  header: readonly string[],
  fields: readonly Field[],
): readonly (Field | null)[] {
  const byKey = new Map(fields.map((field) => [field.key, field]))
  const columns = header.map((name) => byKey.get(name) ?? null)
  const duplicate = columns.find((field, index) => field !== null && columns.indexOf(field) < index)
  if (duplicate) throw problem('VALIDATION_ERROR', `file has more than one column ${duplicate.key}`)
  // Names no field as an example: the caller might not be allowed to read it.
  if (!columns.some((field) => field !== null)) {
    throw problem('VALIDATION_ERROR', 'file must have a header row of which at least one column is the key of a field')
  }
  return columns
}

/** The names of header columns that name no field, which are ignored. A column without a name has none to list. */
export const ignoredColumns = (header: readonly string[], columns: Columns): string[] =>
  header.filter((name, index) => name !== '' && columns[index] === null)

/**
 * Creates a record from each valid row, in the caller's transaction, and returns the refused rows in their order. Blank cells stay unset,
 * so defaults and numbering apply. The conditions of `records:import` are tested on each row. Throws FORBIDDEN when the caller may import
 * no row at all.
 */
export async function importRows(scope: Scope, type: RecordType, columns: Columns, rows: readonly CsvRow[]): Promise<RefusedRow[]> {
  requireRecordAccess(scope, type, 'records:import')
  const drafts: Draft[] = []
  const refused: RefusedRow[] = []
  for (const row of rows) {
    const valuesOrReason = 'error' in row ? row.error : readRow(scope, type, columns, row.cells)
    if (typeof valuesOrReason === 'string') refused.push({ row: row.row, message: valuesOrReason })
    else drafts.push({ row: row.row, values: valuesOrReason })
  }
  if (drafts.length > 0) refused.push(...(await storeDrafts(scope, type, drafts)))
  return refused.sort((one, other) => one.row - other.row)
}

/** The values of a new record, or the message of the error that refuses them. */
function readRow(scope: Scope, type: RecordType, columns: Columns, cells: readonly string[]): Values | string {
  try {
    return readNewValues(scope, type, 'records:import', (context) => parseCells(columns, cells, context))
  } catch (error) {
    return refusalMessage(error)
  }
}

function parseCells(columns: Columns, cells: readonly string[], { defaultCurrency }: InputContext): Values {
  const values = emptyValues()
  for (const [index, field] of columns.entries()) {
    const cell = cells[index] ?? ''
    if (field === null || isComputed(field) || cell === '') continue
    values[field.key] = parseCell(cell, field, { path: `values.${field.key}`, defaultCurrency })
  }
  return values
}

/**
 * Stores the drafts together, then one by one those that are left: drafts with a unique value that another record holds, or all drafts when
 * the plan's cap has no room for all of them.
 */
async function storeDrafts(scope: Scope, type: RecordType, drafts: readonly Draft[]): Promise<RefusedRow[]> {
  const { left, refused } = await storeTogether(scope, type, drafts)
  for (const { row, values } of left) {
    try {
      await withSavepoint(scope.db, () => withinRecordCap(scope, 1, (inside) => storeOne(inside, type, 'records:import', values)))
    } catch (error) {
      refused.push({ row, message: refusalMessage(error) })
    }
  }
  return refused
}

/** Drafts that are still to be stored one by one, and rows that were refused. */
interface StoreOutcome {
  readonly left: Draft[]
  readonly refused: RefusedRow[]
}

/**
 * Stores the drafts, one statement per group. Locks the plan's cap before it takes numbers, as a creation does, so that an import and a
 * creation cannot deadlock.
 */
async function storeTogether(scope: Scope, type: RecordType, drafts: readonly Draft[]): Promise<StoreOutcome> {
  try {
    return await withinRecordCap(scope, drafts.length, async (inside) => {
      const numbered = drafts.map((draft) => ({ draft, values: Object.assign(emptyValues(), draft.values) }))
      await issueNumbers(
        inside,
        type,
        numbered.map(({ values }) => values),
      )
      const outcome: StoreOutcome = { left: [], refused: [] }
      for await (const group of computeGroups(inside, type, numbered, outcome.refused)) {
        const positions = await insertManyRecords(
          inside,
          type,
          group.map(({ values }) => values),
        )
        outcome.left.push(...positions.flatMap((position) => group[position]?.draft ?? []))
      }
      return outcome
    })
  } catch (error) {
    if (error instanceof Problem && error.code === 'LIMIT_EXCEEDED') return { left: [...drafts], refused: [] }
    throw error
  }
}

/**
 * A draft and the values to store: those of the draft with auto-numbers, and after `computeGroups` with computed fields too.
 */
interface NumberedDraft {
  readonly draft: Draft
  readonly values: Values
}

/**
 * UTF-16 units of text, or milliseconds of computing, after which a group ends: formulas may make long texts from short rows, and take up
 * to 50 ms per row.
 */
const groupSize = { text: 1_000_000, ms: 100 }

/** Computes drafts and yields them in groups for one statement each. Adds drafts that may not be stored to `refused`. */
async function* computeGroups(
  scope: Scope,
  type: RecordType,
  drafts: readonly NumberedDraft[],
  refused: RefusedRow[],
): AsyncGenerator<readonly NumberedDraft[]> {
  let [group, text, startedAt]: [NumberedDraft[], number, number] = [[], 0, performance.now()]
  for (const { draft, values: given } of drafts) {
    const values = Object.assign(emptyValues(), given)
    await computeValues(scope, type, values)
    const message = findRefusal(() => requireStorable(scope, type, 'records:import', values))
    if (message !== undefined) {
      refused.push({ row: draft.row, message })
      continue
    }
    group.push({ draft, values })
    text += textLength(values)
    if (text < groupSize.text && performance.now() - startedAt < groupSize.ms) continue
    yield group
    group = []
    text = 0
    startedAt = performance.now()
  }
  if (group.length > 0) yield group
}

/** The message of the problem that a check throws; undefined when it passes. */
function findRefusal(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return refusalMessage(error)
  }
}

/** The message of a problem that the row caused. Rethrows any other error. */
function refusalMessage(error: unknown): string {
  if (error instanceof Problem && error.status < 500) return error.message
  throw error
}
