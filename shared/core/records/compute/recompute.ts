import { computeValues } from '#shared/core/records/compute/compute-values.ts'
import { clearUniqueStatement, nextPage, perStep, type Selection, storeComputedStatement } from '#shared/core/records/compute/store.ts'
import { findDuplicateField, toDuplicateProblem } from '#shared/core/records/duplicate-value.ts'
import { emptyValues, type RecordRow, rowId, type StoredRecord, toRecord, type Values } from '#shared/core/records/record.ts'
import { noteLongRecord } from '#shared/core/records/text-size.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { isSameValue } from '#shared/core/types/field-kinds/value.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'

const lowestId = '00000000-0000-0000-0000-000000000000'

/** Whether the type has computed fields whose values must differ, so that a recompute ends with a second run over the empty ones. */
export const computesUnique = ({ computations }: RecordType): boolean => computations.some(({ field }) => field.unique)

/**
 * Computes the computed fields of the next records after an id, oldest first, and stores those that differ, in the caller's transaction;
 * nobody asked for the change, so it writes no audit entry. Of records that compute the same value of a unique field the first to hold it
 * keeps it, and the others are left without. Returns how many were looked at and the last one's id, undefined when none was left.
 */
export async function recomputeAfter(
  scope: Scope,
  type: RecordType,
  after: string,
  selection: Selection,
): Promise<{ count: number; last: string | undefined }> {
  const rows = await scope.db.query<RecordRow>(asArrays(nextPage(type, selection)({ after: after || lowestId })))
  const { changes, count, last } = await computed(scope, type, rows)
  for (const { values } of changes) await noteLongRecord(scope, type, values)
  if (computesUnique(type)) await giveUpValues(scope, type, changes)
  await store(scope, type, changes)
  return { count, last }
}

/** What computing changes in the first of some rows, as many as there is time for, but at least one. */
async function computed(
  scope: Scope,
  type: RecordType,
  rows: readonly RecordRow[],
): Promise<{ changes: Change[]; count: number; last: string | undefined }> {
  const deadline = performance.now() + perStep.ms
  const changes: Change[] = []
  let count = 0
  for (const row of rows) {
    if (count > 0 && performance.now() > deadline) break
    const change = await changeOf(scope, type, toRecord(type, row))
    if (change) changes.push(change)
    count += 1
  }
  const last = rows[count - 1]
  return { changes, count, last: last && rowId(last) }
}

/** A record as it is stored, and its values once computed. */
interface Change {
  readonly stored: StoredRecord
  readonly values: Values
}

/** What computing a record changes; undefined when that is nothing. Fields in `withheld` are to be empty. */
async function changeOf(scope: Scope, type: RecordType, stored: StoredRecord, withheld?: ReadonlySet<string>): Promise<Change | undefined> {
  const values: Values = Object.assign(emptyValues(), stored.values)
  await computeValues(scope, type, values, withheld)
  const differs = type.computations.some(({ field: { key } }) => !isSameValue(stored.values[key] ?? null, values[key] ?? null))
  return differs ? { stored, values } : undefined
}

/** Empties the unique fields of records that are about to change them, so that none stands in the way of another of the same step. */
async function giveUpValues(scope: Scope, type: RecordType, changes: readonly Change[]): Promise<void> {
  const keys = type.computations.flatMap(({ field }) => (field.unique ? field.key : []))
  const moving = changes.filter(({ stored, values }) =>
    keys.some((key) => (stored.values[key] ?? null) !== null && !isSameValue(stored.values[key] ?? null, values[key] ?? null)),
  )
  if (moving.length === 0) return
  await scope.db.query(
    clearUniqueStatement(
      type,
      moving.map(({ stored }) => stored),
    ),
  )
  for (const { stored } of moving) for (const key of keys) stored.values[key] = null
}

/** Stores computed records in their order. When another record holds a value of one, they go in halves, down to the one without it. */
async function store(scope: Scope, type: RecordType, changes: readonly Change[]): Promise<void> {
  const [first] = changes
  if (!first || (await storeUnlessHeld(scope, type, changes)) === undefined) return
  if (changes.length === 1) return storeWithout(scope, type, first.stored)
  const half = changes.length >> 1
  await store(scope, type, changes.slice(0, half))
  await store(scope, type, changes.slice(half))
}

/** Stores of a record what it can have: fields whose value another record holds are left empty. */
async function storeWithout(scope: Scope, type: RecordType, stored: StoredRecord): Promise<void> {
  const withheld = new Set<string>()
  for (;;) {
    const change = await changeOf(scope, type, stored, withheld)
    const held = change && (await storeUnlessHeld(scope, type, [change]))
    if (held === undefined) return
    withheld.add(held)
  }
}

/** Stores all of the changes or, when a unique field's value is held by another record already, none; then gives that field's key. */
async function storeUnlessHeld(scope: Scope, type: RecordType, changes: readonly Change[]): Promise<string | undefined> {
  const statement = storeComputedStatement(
    type,
    changes.map(({ stored, values }) => ({ ...stored, values })),
  )
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
