import type { Executor } from '#shared/platform/db/database.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { jobOfMail } from '#shared/platform/mail/jobs.ts'
import type { Mail } from '#shared/platform/mail/mail.ts'
import { insertMail } from '#shared/platform/mail/store.ts'

interface Sender {
  readonly db: Executor
  readonly jobQueue: JobQueue
  readonly cause: Cause
}

/**
 * Inserts a mail into the outbox and enqueues the job that sends it, in the caller's transaction: the mail is sent if and only if the
 * transaction commits. Returns the mail's id. A mail whose id is in the outbox already is not inserted again.
 */
export async function queueMail({ db, jobQueue, cause }: Sender, mail: Mail): Promise<string> {
  const id = mail.id ?? newId()
  await db.transaction(async (tx) => {
    if (!(await insertMail(tx, id, mail))) return
    // A mail starts no automation, so the depth of its cause does not matter.
    const { job } = jobOfMail(mail.kind)
    await jobQueue.enqueue(tx, job, { workspaceId: mail.workspaceId, cause: { ...cause, depth: 0 } }, { mailId: id })
  })
  return id
}
