import { setTimeout as delay } from 'node:timers/promises'
import type { Executor } from '#shared/platform/db/database.ts'
import { signalChannels } from '#shared/platform/jobs/job-signals.ts'
import { sendMailJob } from '#shared/platform/mail/jobs.ts'

const kind = 'bench'

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
      insert into pgboss.job (
        id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select made.id, queue.name,
        jsonb_build_object('workspaceId', made.workspace_id, 'payload', jsonb_build_object('mailId', made.id), 'cause',
          jsonb_build_object('actorId', null, 'actorType', 'system', 'requestId', '${kind}', 'depth', 0)),
        made.workspace_id::text, pgboss.job_now(), pgboss.job_now(), pgboss.job_now() + queue.retention_seconds * interval '1s',
        queue.expire_seconds, queue.deletion_seconds, queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max,
        queue.policy, queue.dead_letter, queue.heartbeat_seconds
      from made cross join pgboss.queue as queue where queue.name = $3`,
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
