import { createHash } from 'node:crypto'
import { fixed } from '#shared/accounting/fixed.ts'
import { sumLedgerMonths } from '#shared/accounting/jobs.ts'
import { addToMonths, beginMonths, findStep, lockMonths } from '#shared/accounting/store/months.ts'
import type { Tx } from '#shared/db/database.ts'
import { enqueueAll } from '#shared/queue/enqueue-all.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Lines that a report may have to add up one by one before it asks for sums of months: they take it some 10 ms. */
const manyLines = 5_000

/**
 * Brings the sums of months up to what has been posted until now. Whoever comes at the same time waits and then finds little to do; posting
 * is not held up but for the moment that those on their way take.
 */
export async function sumMonths(scope: Pick<Scope, 'db'> & { readonly workspace: { readonly id: string } }): Promise<void> {
  const { db, workspace } = scope
  const now = await fixed(scope, undefined, 'now')
  await db.query(beginMonths(workspace.id))
  let isLast = false
  while (!isLast) isLast = await db.transaction((tx) => sumStep(tx, workspace.id, now))
}

/** Adds some of the lines that were posted before an instant; true once those were the last. */
async function sumStep(tx: Tx, workspaceId: string, now: string): Promise<boolean> {
  const [kept] = await tx.query<{ until: string; is_done: boolean }>(lockMonths(workspaceId, now))
  if (!kept || kept.is_done) return true
  const [step] = await tx.query<{ until: string; is_last: boolean }>(findStep(workspaceId, kept.until, now))
  if (!step) return true
  await tx.query(addToMonths(workspaceId, kept.until, step.until))
  return step.is_last
}

/** Has a worker bring the sums of months up to date when a report had to add up many lines; once a minute, whoever asks. */
export async function noteRecent({ db, queue, workspace, cause, now }: Scope, lines: number): Promise<void> {
  if (lines < manyLines) return
  const minute = Math.floor(now().getTime() / 60_000)
  const id = createHash('md5').update(`ledger months ${workspace.id} ${minute}`).digest('hex')
  await enqueueAll(queue, db, sumLedgerMonths, [
    { id, origin: { workspaceId: workspace.id, cause }, payload: { workspaceId: workspace.id } },
  ])
}
