import { findTestedKeys } from '#shared/core/records/change/kept-values.ts'
import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import {
  type ComputedChange,
  clearUniqueStatement,
  nextPage,
  perStep,
  type Selection,
  storeComputedStatement,
} from '#shared/core/records/compute/store.ts'
import { findDuplicateField, toDuplicateProblem } from '#shared/core/records/duplicate-value.ts'
import { emptyValues, type RecordRow, rowId, type StoredRecord, toRecord, type Values } from '#shared/core/records/record.ts'
import { noteLongRecord } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isSameValue } from '#shared/core/types/field-kinds/value.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'

/** Whether the type has unique computed fields. A recompute then ends with a second run over records whose unique fields are empty. */
export const computesUnique = ({ computations }: RecordType): boolean => computations.some(({ field }) => field.unique)

/**
 * Recomputes the next records after an id, oldest first, and stores those whose computed fields change with their audit entries, in
 * the caller's transaction. When records compute the same value of a unique field, the record that holds it first keeps it, and the field
 * stays empty in the others. Returns the number of records computed and the last one's id, undefined when no record was left.
 */
export async function recomputeAfter(
  scope: Scope,
  type: RecordType,
  after: string,
  selection: Selection,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await scope.db.query(asArrays(nextPage(type, selection)({ after: after || lowestId })))
  const { changes, count, last } = await computeChanges(scope, type, rows)
  for (const { values } of changes) await noteLongRecord(scope, type, values)
  const cleared = computesUnique(type) ? await clearUniqueValues(scope, type, changes) : noIds
  await store(scope, type, changes, cleared)
  if (changes.length > 0) wakeNumbering(scope, 'soon')
  return { count, last }
}

/** Computes the rows in their order until `perStep.ms` is over, at least one. Returns the records that differ. */
async function computeChanges(
  scope: Scope,
  type: RecordType,
  rows: readonly RecordRow[],
): Promise<{ changes: ComputedChange[]; count: number; last: string | undefined }> {
  const deadline = performance.now() + perStep.ms
  const changes: ComputedChange[] = []
  let count = 0
  for (const row of rows) {
    if (count > 0 && performance.now() > deadline) break
    const change = await computeChange(scope, type, toRecord(type, row))
    if (change) changes.push(change)
    count += 1
  }
  const last = rows[count - 1]
  return { changes, count, last: last && rowId(last) }
}

/** Computes a record; undefined when no computed field differs. */
async function computeChange(scope: Scope, type: RecordType, stored: StoredRecord): Promise<ComputedChange | undefined> {
  const values = await computeAll(scope, type, stored)
  return differs(type, stored, values) ? { stored, values } : undefined
}

/** All values of a record after computing. Fields in `withheld` become empty. */
async function computeAll(scope: Scope, type: RecordType, stored: StoredRecord, withheld?: ReadonlySet<string>): Promise<Values> {
  const values: Values = Object.assign(emptyValues(), stored.values)
  await computeValues(scope, type, values, withheld)
  return values
}

const differs = ({ computations }: RecordType, stored: StoredRecord, values: Values): boolean =>
  computations.some(({ field: { key } }) => !isSameValue(stored.values[key] ?? null, values[key] ?? null))

const noIds: ReadonlySet<string> = new Set()

/**
 * Clears the unique fields of records that are about to change them, so that records of one step do not block each other. Returns the ids of
 * these records, which must be stored even if they end with the values that they had.
 */
async function clearUniqueValues(scope: Scope, type: RecordType, changes: readonly ComputedChange[]): Promise<ReadonlySet<string>> {
  const keys = type.computations.flatMap(({ field }) => (field.unique ? field.key : []))
  const moving = changes
    .filter(({ stored, values }) =>
      keys.some((key) => (stored.values[key] ?? null) !== null && !isSameValue(stored.values[key] ?? null, values[key] ?? null)),
    )
    .map(({ stored }) => stored)
  if (moving.length > 0) await scope.db.query(clearUniqueStatement(type, moving))
  return new Set(moving.map(({ id }) => id))
}

/**
 * Stores computed records in their order. When another record holds a unique value of one of them, it halves the list until that record is
 * alone, and stores it without the value.
 */
async function store(scope: Scope, type: RecordType, changes: readonly ComputedChange[], cleared: ReadonlySet<string>): Promise<void> {
  const [first] = changes
  if (!first || (await storeUnlessHeld(scope, type, changes)) === undefined) return
  if (changes.length === 1) return storeWithoutHeld(scope, type, first.stored, cleared.has(first.stored.id))
  const half = changes.length >> 1
  await store(scope, type, changes.slice(0, half), cleared)
  await store(scope, type, changes.slice(half), cleared)
}

/** Stores a record; fields whose value another record holds become empty. */
async function storeWithoutHeld(scope: Scope, type: RecordType, stored: StoredRecord, isCleared: boolean): Promise<void> {
  const withheld = new Set<string>()
  for (;;) {
    const values = await computeAll(scope, type, stored, withheld)
    const held = isCleared || differs(type, stored, values) ? await storeUnlessHeld(scope, type, [{ stored, values }]) : undefined
    if (held === undefined) return
    withheld.add(held)
  }
}

/**
 * Stores all changes and returns undefined. If another record holds one of the unique values, stores nothing and returns the key of that
 * field.
 */
async function storeUnlessHeld(scope: Scope, type: RecordType, changes: readonly ComputedChange[]): Promise<string | undefined> {
  const statement = storeComputedStatement(scope, type, changes, await findTestedKeys(scope, type))
  if (!computesUnique(type)) {
    await scope.db.query(statement)
    return undefined
  }
  try {
    await withSavepoint(scope.db, () => scope.db.query(statement))
    return undefined
  } catch (error) {
    const field = findDuplicateField(type, toDuplicateProblem(type, error))
    if (!field) throw error
    return field.key
  }
}
