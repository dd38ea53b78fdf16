import type { Executor } from '#shared/platform/db/database.ts'
import {
  bigint,
  boolean,
  instant,
  integer,
  jsonb,
  type RowOf,
  selectList,
  text,
  texts,
  uuid,
  uuids,
} from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { retryPolicies } from '#shared/platform/jobs/job.ts'
import { makeRetriesDue } from '#shared/platform/jobs/pgboss/part-waits.ts'
import { type Mail, type MailStatus, mailQueue, messageKind } from '#shared/platform/mail/mail.ts'
import { insertOutcomes, outcomeColumns } from '#shared/platform/mail/outcomes-store.ts'

const mailStatus = text.as<MailStatus>()

const columns = {
  id: uuid.notNull,
  workspace_id: uuid,
  kind: text.notNull,
  /** Null for mail of the platform, which goes out by the operator's server. */
  connection_id: uuid,
  recipient: text.notNull,
  subject: text.notNull,
  body_text: text.notNull,
  body_html: text,
  headers: jsonb.as<Readonly<Record<string, string>>>().notNull,
  calendar: jsonb.as<NonNullable<Mail['calendar']>>(),
  status: mailStatus.notNull,
  second_try: boolean.notNull,
  is_erased: boolean.notNull,
  created_at: instant.notNull,
}
const columnsWithWorkspace = { ...columns, is_suspended: boolean.notNull }

/** A mail in the outbox. */
export type OutboxMail = RowOf<typeof columnsWithWorkspace>

/** Attempts after which a mail that could not be sent is marked as failed. */
const maxAttempts = retryPolicies.patient.limit + 1
/** Characters of a stored error message. */
const maxErrorLength = 2_000

const insertMailRow = statement(
  'mail.insertMailRow',
  `insert into outbox_mails (id, workspace_id, kind, recipient, subject, body_text, body_html, headers, calendar)
   values ($id, $workspaceId, $kind, $recipient, $subject, $bodyText, $bodyHtml, $headers, $calendar)
   on conflict (id) do nothing returning id`,
  {
    params: {
      id: uuid,
      workspaceId: uuid.orNull,
      kind: text,
      recipient: text,
      subject: text,
      bodyText: text,
      bodyHtml: text.orNull,
      headers: jsonb,
      calendar: jsonb.orNull,
    },
    columns: { id: uuid.notNull },
  },
)
/** Inserts a mail to be sent. Returns false when the outbox has a mail of this id. */
export async function insertMail(db: Executor, id: string, mail: Mail): Promise<boolean> {
  const { workspaceId, kind, to, subject, headers = {}, calendar } = mail
  const inserted = insertMailRow({
    id,
    workspaceId,
    kind,
    recipient: to,
    subject,
    bodyText: mail.text,
    bodyHtml: mail.html,
    headers: JSON.stringify(headers),
    calendar: calendar && JSON.stringify(calendar),
  })
  return (await db.query(inserted)).length > 0
}

/** A mail of the outbox with one of these ids. Work that inserts all of them in one transaction has then been done. */
export const findAnyMail = statement('mail.findAnyMail', 'select id from outbox_mails where id = any($ids) limit 1', {
  params: { ids: uuids },
  columns: { id: uuid.notNull },
})

/** A mail by its id. */
export const findMail = statement(
  'mail.findMail',
  `select ${selectList(columns, 'mail')}, coalesce(workspace.status = 'suspended', false) as is_suspended
   from outbox_mails as mail left join workspaces as workspace on workspace.id = mail.workspace_id where mail.id = $id`,
  { params: { id: uuid }, columns: columnsWithWorkspace },
)

/**
 * Marks a mail as `sending`, just before a server gets it, or as `skipped` when its recipient is on the workspace's do-not-contact list; an
 * uncertain mail to such a recipient stays `uncertain`. No row when the mail's status is not in `from` or it must not be sent again. Commit
 * before the server gets the mail.
 */
export const takeMail = statement(
  'mail.takeMail',
  `update outbox_mails as mail
   set second_try = mail.second_try or mail.status = 'uncertain', awaits_server = false,
     status = case when not exists (
       select from do_not_contact as stop where stop.workspace_id = mail.workspace_id and stop.address = any(mail.contact_keys)
     ) then 'sending' when mail.status = 'uncertain' then 'uncertain' else 'skipped' end
   where mail.id = $id and not mail.is_erased and mail.status = any($from) and not (mail.status = 'uncertain' and mail.second_try)
   returning mail.status`,
  { params: { id: uuid, from: texts }, columns: { status: mailStatus.notNull } },
)
// The text of a platform mail is erased when its sending has ended, since it may hold a token that is stored elsewhere only as a hash. The
// text of a workspace's message stays for 30 days (`forgetMessageTexts`). A mail whose text is erased is never sent again.
const forgotten = (completed: string): string =>
  `body_text = case when kind <> '${messageKind}' and ${completed} then '' else body_text end,
   body_html = case when kind <> '${messageKind}' and ${completed} then null else body_html end,
   calendar = case when kind <> '${messageKind}' and ${completed} then null else calendar end,
   is_erased = is_erased or (kind <> '${messageKind}' and ${completed})`

const completeMailRow = statement(
  'mail.completeMailRow',
  `with changed as (
     update outbox_mails
     set status = $status, attempts = attempts + 1, last_error = $error,
       sent_at = case when $status = 'sent' then $now::timestamptz else sent_at end, ${forgotten('true')}
     where id = $id and status in ('queued', 'sending', 'uncertain', 'failed')
     returning ${outcomeColumns}
   )
   ${insertOutcomes}`,
  { params: { id: uuid, status: mailStatus, error: text.orNull, now: instant } },
)
/** Records the final status of a mail. `now` is the time when it was sent, if it was. */
export async function completeMail(db: Executor, id: string, status: MailStatus, error: string | null, now: Date): Promise<void> {
  await db.query(completeMailRow({ id, status, error: error?.slice(0, maxErrorLength), now }))
}

const setMailUncertain = statement(
  'mail.setMailUncertain',
  `update outbox_mails set status = 'uncertain', attempts = attempts + 1, last_error = $error, ${forgotten('second_try')}
   where id = $id and status = 'sending' returning second_try`,
  { params: { id: uuid, error: text }, columns: { second_try: boolean.notNull } },
)
/** Records that the server may or may not have a mail. Returns whether a second attempt is still to come. */
export async function markMailUncertain(db: Executor, id: string, reason: string): Promise<boolean> {
  return (await db.query(setMailUncertain({ id, error: reason.slice(0, maxErrorLength) })))[0]?.second_try === false
}

const setMailFailed = statement(
  'mail.setMailFailed',
  `with changed as (
     update outbox_mails
     set attempts = attempts + 1, last_error = $error, awaits_server = $awaitsServer,
       second_try = second_try or status = 'uncertain',
       status = case when second_try or status = 'uncertain' then 'uncertain' when attempts + 1 >= $maxAttempts then 'failed' else 'queued' end
     where id = $id and status in ('queued', 'sending', 'uncertain', 'failed')
     returning ${outcomeColumns}
   ),
   announced as (${insertOutcomes})
   select status from changed`,
  { params: { id: uuid, error: text, awaitsServer: boolean, maxAttempts: integer }, columns: { status: mailStatus.notNull } },
)
/**
 * Records a failed attempt and its reason, and whether the server was away, so that the mail may follow once it is back. Returns the new
 * status: `queued`, `failed` after the last attempt, or `uncertain` for a second attempt after an uncertain one; undefined when the mail was
 * completed before.
 */
export async function recordMailFailure(db: Executor, id: string, reason: string, awaitsServer: boolean): Promise<MailStatus | undefined> {
  return (await db.query(setMailFailed({ id, error: reason.slice(0, maxErrorLength), awaitsServer, maxAttempts })))[0]?.status
}

const setMailWaiting = statement(
  'mail.setMailWaiting',
  `update outbox_mails
   set last_error = $error, second_try = second_try and status <> 'sending',
     status = case when status <> 'sending' then status when second_try then 'uncertain' else 'queued' end
   where id = $id and status in ('queued', 'sending', 'uncertain', 'failed')`,
  { params: { id: uuid, error: text } },
)
/** Records why a mail waits for the operator's server. This is no attempt, and no second attempt of an uncertain mail. */
export async function recordMailWait(db: Executor, id: string, reason: string): Promise<void> {
  await db.query(setMailWaiting({ id, error: reason.slice(0, maxErrorLength) }))
}

const clearAwaitingServer = statement(
  'mail.clearAwaitingServer',
  `update outbox_mails set awaits_server = false
   where workspace_id = $workspaceId and connection_id = $connectionId and awaits_server returning id`,
  { params: { workspaceId: uuid, connectionId: uuid }, columns: { id: uuid.notNull } },
)
/** Makes the mails of a connection due that wait for its server, since it has just taken one. Returns whether there are any. */
export async function releaseMails(db: Executor, workspaceId: string, connectionId: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const ids = (await tx.query(clearAwaitingServer({ workspaceId, connectionId }))).map(({ id }) => id)
    if (ids.length > 0) await makeRetriesDue(tx, mailQueue, workspaceId, 'mailId', ids)
    return ids.length > 0
  })
}

const selectMailCounts = statement(
  'mail.selectMailCounts',
  `select count(*) filter (where workspace_id = $workspaceId)::integer as "fromWorkspace",
     count(*) filter (where lower(recipient) = lower($to))::integer as "toAddress"
   from outbox_mails
   where kind = $kind and created_at > $since and (workspace_id = $workspaceId or lower(recipient) = lower($to))`,
  {
    params: { workspaceId: uuid, kind: text, to: text, since: instant },
    columns: { fromWorkspace: integer.notNull, toAddress: integer.notNull },
  },
)
/** Counts the mails of a kind that entered the outbox after a time: those of a workspace, and those to an address from all workspaces. */
export async function countMail(
  db: Executor,
  counted: Parameters<typeof selectMailCounts>[0],
): Promise<{ readonly fromWorkspace: number; readonly toAddress: number }> {
  const [row] = await db.query(selectMailCounts(counted))
  return row ?? { fromWorkspace: 0, toAddress: 0 }
}

const eraseMessageTexts = statement(
  'mail.eraseMessageTexts',
  `with changed as (
     update outbox_mails set is_erased = true, body_text = '', body_html = null,
       status = case when status = 'queued' then 'failed' else status end,
       last_error = case when status = 'queued' then 'It could not be sent for 30 days' else last_error end
     where ctid = any(array(
       select ctid from outbox_mails where kind = '${messageKind}' and not is_erased and created_at < $createdBefore order by created_at
       limit $limit for update skip locked
     ))
     returning ${outcomeColumns}
   ),
   announced as (${insertOutcomes})
   select count(*)::integer as gone from changed`,
  { params: { createdBefore: instant, limit: bigint }, columns: { gone: integer.notNull } },
)
/** Erases the texts of messages written before a time, at most `limit`, and returns their number. Messages still queued become failed. */
export const forgetMessageTexts = async (db: Executor, createdBefore: Date, limit: number): Promise<number> =>
  (await db.query(eraseMessageTexts({ createdBefore, limit })))[0]?.gone ?? 0
