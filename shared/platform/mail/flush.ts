import type { Executor } from '#shared/platform/db/database.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { makeQueueDue } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { mailDue, sendMailJob } from '#shared/platform/mail/jobs.ts'
import { makeMailsDue } from '#shared/platform/mail/operator-store.ts'

interface FlushScope {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly now: () => Date
}

/**
 * Lets mails that wait for another try be tried at once: all, or those of a workspace. Mails of suspended workspaces wait on, as do those that
 * a server may have. Returns the number of mails that had to wait.
 */
export async function flushMails({ db, jobQueue, now }: FlushScope, workspaceId: string | undefined): Promise<number> {
  return db.transaction(async (tx) => {
    const due = await tx.query(makeMailsDue({ kind: mailDue.name, now: now(), workspaceId }))
    const retried = await makeQueueDue(tx, sendMailJob.name, workspaceId)
    tx.afterCommit(() => void jobQueue.signals.signalJobs(sendMailJob.name))
    return due.length + retried
  })
}
