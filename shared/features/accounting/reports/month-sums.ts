import { createHash } from 'node:crypto'
import type { Scope } from '#shared/core/scope/scope.ts'
import { sumLedgerMonthsJob } from '#shared/features/accounting/jobs.ts'
import {
  addMonthSums,
  findMonthStep,
  insertMonthProgress,
  lockMonthProgress,
} from '#shared/features/accounting/reports/month-sums-store.ts'
import { waitForPostings } from '#shared/features/accounting/wait-for-postings.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { enqueueAll } from '#shared/platform/jobs/enqueue-all.ts'
import { minuteMs } from '#shared/platform/kernel/time/units.ts'

/**
 * A report that adds up this many lines which the month sums do not contain yet requests their update; adding 5,000 lines takes about 10
 * ms.
 */
const maxRecentLines = 5_000

/**
 * Updates the month sums with everything posted until now. A concurrent call waits and then finds little to add. New postings wait only
 * until those in progress have committed.
 */
export async function updateMonthSums(scope: Pick<Scope, 'db'> & { readonly workspace: { readonly id: string } }): Promise<void> {
  const { db, workspace } = scope
  const now = await waitForPostings(scope, undefined, 'now')
  await db.query(insertMonthProgress({ workspaceId: workspace.id }))
  let isLast = false
  while (!isLast) isLast = await db.transaction((tx) => addNextLines(tx, workspace.id, now))
}

/** Adds the next lines posted before an instant to the month sums, in one transaction; true when none are left. */
async function addNextLines(tx: Tx, workspaceId: string, now: string): Promise<boolean> {
  const [progress] = await tx.query(lockMonthProgress({ workspaceId, end: now }))
  if (!progress || progress.is_done) return true
  const [step] = await tx.query(findMonthStep({ workspaceId, since: progress.until, end: now }))
  if (!step) return true
  await tx.query(addMonthSums({ workspaceId, since: progress.until, until: step.until }))
  return step.is_last
}

/**
 * Enqueues an update of the month sums after a report that added up `maxRecentLines` lines or more; at most once a minute per workspace.
 */
export async function requestMonthSums({ db, jobQueue, workspace, cause, now }: Scope, lines: number): Promise<void> {
  if (lines < maxRecentLines) return
  const minute = Math.floor(now().getTime() / minuteMs)
  const id = createHash('md5').update(`ledger months ${workspace.id} ${minute}`).digest('hex')
  await enqueueAll(jobQueue, db, sumLedgerMonthsJob, [
    { id, origin: { workspaceId: workspace.id, cause }, payload: { workspaceId: workspace.id } },
  ])
}
