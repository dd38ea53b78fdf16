import type { Executor } from '#shared/platform/db/database.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'
import { retryPolicies } from '#shared/platform/jobs/job.ts'
import { type Mail, type MailStatus, messageKind } from '#shared/platform/mail/mail.ts'

/** A mail in the outbox. */
export interface OutboxMail {
  readonly id: string
  readonly workspace_id: string | null
  readonly kind: string
  /** Null for mail of the platform, which goes out by the operator's server. */
  readonly connection_id: string | null
  readonly recipient: string
  readonly subject: string
  readonly body_text: string
  readonly body_html: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly calendar: Mail['calendar'] | null
  readonly status: MailStatus
  readonly second_try: boolean
  readonly is_erased: boolean
  readonly is_suspended: boolean
  readonly created_at: string
}

/** Attempts after which a mail that could not be sent is marked as failed. */
const mostTries = retryPolicies.patient.limit + 1

const insert = sql(
  'insert_mail',
  `insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text, body_html, headers, calendar)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (id) do nothing returning id`,
)
/** Inserts a mail to be sent. Returns false when the outbox has a mail of this id. */
export async function insertMail(db: Executor, id: string, mail: Mail): Promise<boolean> {
  const { workspaceId, kind, to, subject, text, html = null, headers = {}, calendar = null } = mail
  const json = [JSON.stringify(headers), calendar && JSON.stringify(calendar)]
  return (await db.query(insert(id, workspaceId, kind, to, subject, text, html, ...json))).length > 0
}

const known = sql('find_known_mail', 'select id from outbox_mails where id = any($1) limit 1')
/** Whether the outbox has a mail with one of these ids. Work that inserts all of them in one transaction has then been done. */
export async function hasMail(db: Executor, ids: readonly string[]): Promise<boolean> {
  return (await db.query(known(ids))).length > 0
}

const find = sql(
  'find_mail',
  `select mail.id, mail.workspace_id, mail.kind, mail.connection_id, mail.recipient, mail.subject, mail.body_text, mail.body_html,
     mail.headers, mail.calendar, mail.status, mail.second_try, mail.is_erased, mail.created_at,
     coalesce(workspace.status = 'suspended', false) as is_suspended
   from outbox_mails as mail left join workspaces as workspace on workspace.id = mail.workspace_id where mail.id = $1`,
)
export async function findMail(db: Executor, id: string): Promise<OutboxMail | undefined> {
  return (await db.query<OutboxMail>(find(id)))[0]
}

const take = sql(
  'take_mail',
  `update outbox_mails as mail
   set second_try = mail.second_try or mail.status = 'uncertain',
     status = case when not exists (
       select from do_not_contact as stop where stop.workspace_id = mail.workspace_id and stop.address = any(mail.contact_keys)
     ) then 'sending' when mail.status = 'uncertain' then 'uncertain' else 'skipped' end
   where mail.id = $1 and not mail.is_erased and mail.status = any($2) and not (mail.status = 'uncertain' and mail.second_try)
   returning mail.status`,
)
/**
 * Marks a mail as `sending`, just before a server gets it, or as `skipped` when its recipient is on the workspace's do-not-contact list; an
 * uncertain mail to such a recipient stays `uncertain`. Returns the new status; undefined when the mail's status is not in `from` or it
 * must not be sent again. Commit before the server gets the mail.
 */
export async function takeMail(db: Executor, id: string, from: readonly MailStatus[]): Promise<MailStatus | undefined> {
  return (await db.query<{ status: MailStatus }>(take(id, from)))[0]?.status
}

// The text of a platform mail is erased when its sending has ended, since it may hold a token that is stored elsewhere only as a hash. The
// text of a workspace's message stays for 30 days (`forgetMessageTexts`). A mail whose text is erased is never sent again.
const forgotten = (completed: string): string =>
  `body_text = case when kind <> '${messageKind}' and ${completed} then '' else body_text end,
   body_html = case when kind <> '${messageKind}' and ${completed} then null else body_html end,
   calendar = case when kind <> '${messageKind}' and ${completed} then null else calendar end,
   is_erased = is_erased or (kind <> '${messageKind}' and ${completed})`

const complete = sql(
  'settle_mail',
  `update outbox_mails
   set status = $2, attempts = attempts + 1, last_error = $3, sent_at = case when $2 = 'sent' then $4::timestamptz else sent_at end,
     ${forgotten('true')}
   where id = $1 and status in ('queued', 'sending', 'uncertain', 'failed')`,
)
/** Records the final status of a mail. `now` is the time when it was sent, if it was. */
export async function completeMail(db: Executor, id: string, status: MailStatus, error: string | null, now: Date): Promise<void> {
  await db.query(complete(id, status, error?.slice(0, 2_000) ?? null, now))
}

const doubt = sql(
  'note_mail_uncertain',
  `update outbox_mails set status = 'uncertain', attempts = attempts + 1, last_error = $2, ${forgotten('second_try')}
   where id = $1 and status = 'sending' returning second_try`,
)
/** Records that the server may or may not have a mail. Returns whether a second attempt is still to come. */
export async function markMailUncertain(db: Executor, id: string, reason: string): Promise<boolean> {
  return (await db.query<{ second_try: boolean }>(doubt(id, reason.slice(0, 2_000))))[0]?.second_try === false
}

const failed = sql(
  'note_mail_failure',
  `update outbox_mails
   set attempts = attempts + 1, last_error = $2,
     second_try = second_try or status = 'uncertain',
     status = case when second_try or status = 'uncertain' then 'uncertain' when attempts + 1 >= $3 then 'failed' else 'queued' end
   where id = $1 and status in ('queued', 'sending', 'uncertain', 'failed') returning status`,
)
/**
 * Records a failed attempt and its reason. Returns the new status: `queued`, `failed` after the last attempt, or `uncertain` for a second
 * attempt after an uncertain one; undefined when the mail was completed before.
 */
export async function recordMailFailure(db: Executor, id: string, reason: string): Promise<MailStatus | undefined> {
  return (await db.query<{ status: MailStatus }>(failed(id, reason.slice(0, 2_000), mostTries)))[0]?.status
}

const count = sql(
  'count_mail',
  `select count(*) filter (where workspace_id = $2)::integer as "fromWorkspace",
     count(*) filter (where lower(recipient) = lower($3))::integer as "toAddress"
   from outbox_mails where kind = $1 and created_at > $4 and (workspace_id = $2 or lower(recipient) = lower($3))`,
)
/** Counts the mails of a kind that entered the outbox after a time: those of a workspace, and those to an address from all workspaces. */
export async function countMail(
  db: Executor,
  { kind, workspaceId, to, since }: { kind: string; workspaceId: string; to: string; since: Date },
): Promise<{ readonly fromWorkspace: number; readonly toAddress: number }> {
  const [row] = await db.query<{ fromWorkspace: number; toAddress: number }>(count(kind, workspaceId, to, since))
  return row ?? { fromWorkspace: 0, toAddress: 0 }
}

const forget = sql(
  'forget_message_texts',
  `update outbox_mails set is_erased = true, body_text = '', body_html = null,
     status = case when status = 'queued' then 'failed' else status end,
     last_error = case when status = 'queued' then 'It could not be sent for 30 days' else last_error end
   where ctid = any(array(
     select ctid from outbox_mails where kind = '${messageKind}' and not is_erased and created_at < $1 order by created_at
     limit $2 for update skip locked
   )) returning 1 as gone`,
)
/** Erases the texts of messages written before a time, at most `atMost`, and returns their number. Messages still queued become failed. */
export const forgetMessageTexts = async (db: Executor, before: Date, atMost: number): Promise<number> =>
  (await db.query(forget(before, atMost))).length
