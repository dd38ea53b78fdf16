import { setTimeout as delay } from 'node:timers/promises'
import { insertJobs } from '#bench/jobs/insert-jobs.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'

const kind = 'bench'
const envelope = `jsonb_build_object('workspaceId', made.workspace_id, 'payload', jsonb_build_object('mailId', made.id), 'cause',
  jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', '${kind}', 'depth', 0))`

/** Writes this many mails into the outbox with their sending jobs, in rotation over these workspaces, as requests would have left them. */
export async function putMails(db: Executor, workspaceIds: readonly string[], count: number): Promise<void> {
  await db.query({
    text: `with made as materialized (
        select uuidv7() as id, ($1::uuid[])[1 + n % cardinality($1::uuid[])] as workspace_id from generate_series(1, $2::int) as n
      ),
      mails as (
        insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text)
        select id, workspace_id, '${kind}', 'ann@example.com', 'Your order', 'It is on its way.' from made
      )
      ${insertJobs('made.id', envelope, 'made.workspace_id::text', '$3')}`,
    values: [workspaceIds, count, sendMailJob.name],
  })
  await db.query({ text: 'select pg_notify($1, $2)', values: [signalChannels.filled, sendMailJob.name] })
}

/** Waits until a workspace has no mail left to send. */
export async function mailed(db: Executor, workspaceId: string): Promise<void> {
  for (;;) {
    const rows = await db.query({
      text: `select from outbox_mails where workspace_id = $1 and kind = '${kind}' and status <> 'sent' limit 1`,
      values: [workspaceId],
    })
    if (rows.length === 0) return
    await delay(4)
  }
}

/** Deletes all mails, sent or not. */
export async function forgetMails(db: Executor): Promise<void> {
  await db.query({ text: `delete from pgboss.job where name = $1`, values: [sendMailJob.name] })
  await db.query({ text: `delete from outbox_mails where kind = '${kind}'` })
}
