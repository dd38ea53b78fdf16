import type { Executor } from '#shared/db/database.ts'
import { sql } from '#shared/db/statement.ts'
import type { Mail } from '#shared/mail/mail.ts'
import { retry } from '#shared/queue/job.ts'

/** A mail as the outbox keeps it. */
export interface OutboxMail {
  readonly id: string
  readonly recipient: string
  readonly subject: string
  readonly body_text: string
  readonly body_html: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly calendar: Mail['calendar'] | null
  readonly status: 'queued' | 'sent' | 'failed'
  readonly created_at: string
}

/** Tries after which a mail is kept as failed. */
const mostTries = retry.patient.limit + 1

const insert = sql(
  'insert_mail',
  `insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text, body_html, headers, calendar)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do nothing returning id`,
)
/** Keeps a mail to be sent; false when the outbox has one of this id. */
export async function insertMail(db: Executor, id: string, mail: Mail): Promise<boolean> {
  const { workspaceId, kind, to, subject, text, html = null, headers = {}, calendar = null } = mail
  const json = [JSON.stringify(headers), calendar && JSON.stringify(calendar)]
  return (await db.query(insert(id, workspaceId, kind, to, subject, text, html, ...json))).length > 0
}

const find = sql(
  'find_mail',
  `select id, recipient, subject, body_text, body_html, headers, calendar, status, created_at from outbox_mails where id = $1`,
)
export async function findMail(db: Executor, id: string): Promise<OutboxMail | undefined> {
  return (await db.query<OutboxMail>(find(id)))[0]
}

const sent = sql(
  'note_mail_sent',
  `update outbox_mails
   set status = 'sent', attempts = attempts + 1, last_error = null, sent_at = now(), body_text = '', body_html = null, calendar = null
   where id = $1`,
)
/** Records that a mail has gone out. What it said goes too: it may hold a token, of which only the hash is kept. */
export async function noteSent(db: Executor, id: string): Promise<void> {
  await db.query(sent(id))
}

const failed = sql(
  'note_mail_failure',
  `update outbox_mails
   set attempts = attempts + 1, last_error = $2, status = case when attempts + 1 >= $3 then 'failed' else 'queued' end
   where id = $1`,
)
/** Records a failed try and why; the last one marks the mail as failed. */
export async function noteFailure(db: Executor, id: string, reason: string): Promise<void> {
  await db.query(failed(id, reason.slice(0, 2_000), mostTries))
}

const count = sql(
  'count_mail',
  `select count(*) filter (where workspace_id = $2)::integer as "fromWorkspace",
     count(*) filter (where lower(recipient) = lower($3))::integer as "toAddress"
   from outbox_mails where kind = $1 and created_at > $4 and (workspace_id = $2 or lower(recipient) = lower($3))`,
)
/** How much mail of a kind has gone into the outbox since a time: from a workspace, and from anybody to an address. */
export async function countMail(
  db: Executor,
  { kind, workspaceId, to, since }: { kind: string; workspaceId: string; to: string; since: Date },
): Promise<{ readonly fromWorkspace: number; readonly toAddress: number }> {
  const [row] = await db.query<{ fromWorkspace: number; toAddress: number }>(count(kind, workspaceId, to, since))
  return row ?? { fromWorkspace: 0, toAddress: 0 }
}
