import { changesAfter, idOfNow, lockAgainstWrites, pageOfField } from '#shared/core/records/change/breakers-store.ts'
import { findValuesByIds } from '#shared/core/records/query/records-by-ids.ts'
import { type RecordRow, readValue, rowId } from '#shared/core/records/record.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import type { Restriction } from '#shared/core/types/fields/restrictions.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { changeTable } from '#shared/core/types/tables/change-table.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { asArrays } from '#shared/platform/db/statements/statement.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** Records that are looked at together; fewer where one value may have 100,000 characters. */
const pageSizeOf = ({ type }: Field): number => (type === 'text' ? 100 : 1_000)

/** Changes that are left for the moment in which nobody may write. */
const mostLeft = 2_000

/** How often changes that came during a look are looked at without stopping them; each look is shorter than the one before. */
const mostLooks = 10

const lowestId = '00000000-0000-0000-0000-000000000000'

/** A field of a type, and what a change of it newly asks of the values that there are. */
export interface RestrictionCheck {
  readonly type: RecordType
  readonly field: Field
  readonly restrictions: readonly Restriction[]
}

/** How many records break each tightening, in their order. */
type Counts = number[]

/**
 * Looks at the records after an id, oldest first, and adds those that break a tightening to the counts. Returns how many were looked at and
 * the last one's id, undefined when none was left.
 */
export async function countViolationsAfter(
  db: Executor,
  question: RestrictionCheck,
  after: string,
  counts: Counts,
): Promise<{ count: number; last: string | undefined }> {
  const { type, field } = question
  const rows = await db.query<RecordRow>(asArrays(pageOfField(type, field, pageSizeOf(field))({ after: after || lowestId })))
  count(
    question,
    rows.map(([, cell, code]) => readValue(field, cell, code)),
    counts,
  )
  const last = rows.at(-1)
  return { count: rows.length, last: last && rowId(last) }
}

function count({ restrictions }: RestrictionCheck, values: readonly FieldValue[], counts: Counts): void {
  for (const value of values) {
    for (const [index, { isViolatedBy }] of restrictions.entries()) if (isViolatedBy(value)) counts[index] = (counts[index] ?? 0) + 1
  }
}

/** Throws VALIDATION_ERROR with the numbers of records that break something: `rules.max_len: 3 records break it`. */
export function requireNoViolations({ restrictions }: RestrictionCheck, counts: Counts): void {
  const complaints = restrictions.flatMap(({ name, describeViolations }, index) =>
    counts[index] ? `${name}: ${describeViolations(counts[index])}` : [],
  )
  if (complaints.length > 0) throw problem('VALIDATION_ERROR', complaints.join('; '))
}

/**
 * A mark in the audit: every change of the type's records that a statement of before did not see has its entry behind it. For that it lets
 * the writes under way end, for a moment.
 */
export const readAuditPosition = (scope: Scope, type: RecordType): Promise<string> =>
  changeTable(scope, async (tx) => {
    await tx.query(lockAgainstWrites(type))
    const [row] = await tx.query<{ id: string }>(idOfNow())
    return row?.id ?? lowestId
  })

/** Throws like `refuseBroken` when records that were changed behind a mark break something. Returns how many changes there were. */
export async function requireNoViolationsSince(db: Executor, question: RestrictionCheck, mark: string): Promise<number> {
  const { type, field } = question
  const counts: Counts = []
  const looked = new Set<string>()
  const pageSize = pageSizeOf(field)
  for (let after = mark, changes = 0; ; ) {
    const entries = await db.query<{ id: string; record_id: string }>(changesAfter(type.workspaceId, type.key, after, pageSize))
    const ids = entries.map(({ record_id }) => record_id).filter((id) => !looked.has(id))
    count(question, await findValuesByIds({ db }, type, field, [...new Set(ids)]), counts)
    for (const id of ids) looked.add(id)
    changes += entries.length
    after = entries.at(-1)?.id ?? after
    if (entries.length === pageSize) continue
    requireNoViolations(question, counts)
    return changes
  }
}

/** Looks at what changed behind a mark until little is left to look at. Returns the mark behind which that stands. */
export async function checkRecentChanges(scope: Scope, question: RestrictionCheck, mark: string): Promise<string> {
  for (let look = 1, from = mark; ; look++) {
    const next = await readAuditPosition(scope, question.type)
    const changes = await requireNoViolationsSince(scope.db, question, from)
    if (changes <= mostLeft || look === mostLooks) return next
    from = next
  }
}
