import { findChangesAfter, lockAgainstWrites, makeEntryId, pageOfField } from '#shared/core/records/change/breakers-store.ts'
import { findValuesByIds } from '#shared/core/records/query/records-by-ids.ts'
import { readValue, rowId } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { Restriction } from '#shared/core/types/fields/restrictions.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'
import { lowestId } from '#shared/platform/kernel/ids.ts'

/** Records checked at once; fewer for text fields, whose values may have 100,000 characters. */
const pageSizeOf = ({ type }: Field): number => (type === 'text' ? 100 : 1_000)

/** Maximum changes left for the final check, which blocks writes. */
const maxRemainingChanges = 2_000

/** Maximum passes over changes made during the previous pass, without blocking writes. A pass is usually shorter than the one before. */
const maxPasses = 10

/** A field of a type, and the restrictions that a change of it adds for existing values. */
export interface RestrictionCheck {
  readonly type: RecordType
  readonly field: Field
  readonly restrictions: readonly Restriction[]
}

/** Number of records that violate each restriction, in the order of the restrictions. */
type Counts = number[]

/**
 * Checks the next records after an id, oldest first, and adds violations to `counts`. Returns the number of records checked and the last
 * one's id, undefined when none was left.
 */
export async function countViolationsAfter(
  db: Executor,
  check: RestrictionCheck,
  after: string,
  counts: Counts,
): Promise<{ count: number; last: string | undefined }> {
  const { type, field } = check
  const rows = await db.query(asArrays(pageOfField(type, field, pageSizeOf(field))({ after: after || lowestId })))
  addViolations(
    check,
    rows.map(([, cell, code]) => readValue(field, cell, code)),
    counts,
  )
  const last = rows.at(-1)
  return { count: rows.length, last: last && rowId(last) }
}

function addViolations({ restrictions }: RestrictionCheck, values: readonly FieldValue[], counts: Counts): void {
  for (const value of values) {
    for (const [index, { isViolatedBy }] of restrictions.entries()) if (isViolatedBy(value)) counts[index] = (counts[index] ?? 0) + 1
  }
}

/** Throws VALIDATION_ERROR with the number of violations per restriction: `rules.max_len: 3 records break it`. */
export function requireNoViolations({ restrictions }: RestrictionCheck, counts: Counts): void {
  const messages = restrictions.flatMap(({ name, describeViolations }, index) =>
    counts[index] ? `${name}: ${describeViolations(counts[index])}` : [],
  )
  if (messages.length > 0) throw problem('VALIDATION_ERROR', messages.join('; '))
}

/**
 * A position in the audit, as an entry id: every change of the type's records that commits after this call has its entry after the
 * position. To ensure this, it briefly locks the table against writes, which waits for running writes to end.
 */
export const readAuditPosition = (scope: Scope, type: RecordType): Promise<string> =>
  changeTable(scope, async (tx) => {
    await tx.query(lockAgainstWrites(type))
    const [row] = await tx.query(makeEntryId())
    return row?.id ?? lowestId
  })

/** Throws like `requireNoViolations` for records changed after an audit position. Returns the number of changes. */
export async function requireNoViolationsSince(db: Executor, check: RestrictionCheck, position: string): Promise<number> {
  const { type, field } = check
  const counts: Counts = []
  const checkedIds = new Set<string>()
  const pageSize = pageSizeOf(field)
  for (let after = position, changes = 0; ; ) {
    const change = { workspaceId: type.workspaceId, typeKey: type.key, afterId: after, limit: pageSize }
    const entries = await db.query(findChangesAfter(change))
    const ids = entries.map(({ record_id }) => record_id).filter((id) => !checkedIds.has(id))
    addViolations(check, await findValuesByIds({ db }, type, field, [...new Set(ids)]), counts)
    for (const id of ids) checkedIds.add(id)
    changes += entries.length
    after = entries.at(-1)?.id ?? after
    if (entries.length === pageSize) continue
    requireNoViolations(check, counts)
    return changes
  }
}

/**
 * Checks the records changed after an audit position, then those changed meanwhile, until a pass meets at most `maxRemainingChanges`
 * changes or `maxPasses` is reached. Returns the position after which changes are still unchecked. Throws like `requireNoViolations`.
 */
export async function checkRecentChanges(scope: Scope, check: RestrictionCheck, position: string): Promise<string> {
  for (let pass = 1, from = position; ; pass++) {
    const next = await readAuditPosition(scope, check.type)
    const changes = await requireNoViolationsSince(scope.db, check, from)
    if (changes <= maxRemainingChanges || pass === maxPasses) return next
    from = next
  }
}
