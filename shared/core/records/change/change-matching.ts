import { requireRecordAccess } from '#shared/core/records/access.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { type MatchingOutcome, matchingComputeSteps, matchingPerStep, maxMatching } from '#shared/core/records/change/matching-schemas.ts'
import { writeChanges } from '#shared/core/records/change/update-record.ts'
import { parseValues } from '#shared/core/records/input.ts'
import { type Filter, readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import { countMatches, findMatches, findMatchesAmong } from '#shared/core/records/query/search-records.ts'
import { lockRecordsByIds } from '#shared/core/records/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { withSavepoint } from '#shared/platform/db/savepoint.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { computeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'
import { compareText } from '#shared/platform/kernel/values/text.ts'

/** A change of the records of a type that match a filter: values to set, or null to delete them. */
export interface MatchingChange {
  readonly typeKey: string
  readonly filter: Filter
  readonly values: Readonly<Record<string, unknown>> | null
}

/** Reads a change from the JSON texts of a job. Throws VALIDATION_ERROR for a filter of a wrong form. */
export const readMatchingChange = (typeKey: string, filter: string, values: string | null): MatchingChange => ({
  typeKey,
  filter: readFilterTree(parseStoredJson(filter)),
  values: values === null ? null : (parseStoredJson(values) as MatchingChange['values']),
})

/** What is done of a change: its outcome so far, and the ids that are left, oldest first. */
export interface MatchingProgress extends MatchingOutcome {
  readonly total: number
  readonly left: readonly string[]
}

/**
 * Picks the records that match now. Throws FORBIDDEN when the caller may read or change no record of the type, VALIDATION_ERROR for a filter
 * or values that no record could take, and when more than `maxMatching` match.
 */
export async function pickMatching(scope: Scope, { typeKey, filter, values }: MatchingChange): Promise<MatchingProgress> {
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  requireRecordAccess(scope, type, actionOf(values))
  if (values) parseValues(type, values, { defaultCurrency: scope.workspace.default_currency })
  const matches = await findMatches(scope, type, access, { filter, sort: [{ field: 'created_at', dir: 'asc' }] }, maxMatching + 1)
  if (matches.length > maxMatching) {
    const total = Math.max(matches.length, await countMatches(scope, type, access, { filter }))
    throw problem('VALIDATION_ERROR', `filter must match at most ${maxMatching} records, got ${total}; narrow it, such as by created_at`)
  }
  return { total: matches.length, left: matches.map(({ id }) => id), matched: 0, changed: 0, skipped: [] }
}

const actionOf = (values: MatchingChange['values']) => (values === null ? 'records:delete' : 'records:update')

/**
 * Changes the next records, at most `matchingPerStep`, in the caller's transaction. It locks them in the order of their ids and tests the
 * filter again, for all of them before the first is changed; then each is changed by its own rules. Refused ones are skipped; an error with
 * status 500 or above is thrown. Throws FORBIDDEN when the caller may no longer read or change any record of the type.
 */
export async function changeNextMatching(scope: Scope, change: MatchingChange, progress: MatchingProgress): Promise<MatchingProgress> {
  const { typeKey, filter, values } = change
  const type = await requireRecordType(scope, typeKey)
  const access = requireRecordAccess(scope, type, 'records:read')
  requireRecordAccess(scope, type, actionOf(values))
  const ids = progress.left.slice(0, matchingPerStep)
  await scope.db.query(lockRecordsByIds(type)({ ids }))
  const matching = (await findMatchesAmong(scope, type, access, { filter, ids })).sort(compareText)
  const inside = { ...scope, computeBudget: computeBudget(scope.db.owner, { steps: matchingComputeSteps, bound: budgetMessage }) }
  const skipped: { id: string; code: string }[] = []
  let changed = 0
  for (const id of matching) {
    try {
      if (await withSavepoint(scope.db, () => changeOne(inside, type, id, values))) changed += 1
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      skipped.push({ id, code: error.code })
    }
  }
  return {
    total: progress.total,
    left: progress.left.slice(matchingPerStep),
    matched: progress.matched + matching.length,
    changed: progress.changed + changed,
    skipped: [...progress.skipped, ...skipped],
  }
}

const budgetMessage = `the formulas of ${matchingPerStep} records may take at most ${matchingComputeSteps} steps of computing`

/** Changes or deletes a record. Returns whether anything was written. */
async function changeOne(scope: Scope, type: RecordType, id: string, values: MatchingChange['values']): Promise<boolean> {
  if (values) return writeChanges(scope, type, id, values)
  await removeRecord(scope, type, id)
  return true
}
