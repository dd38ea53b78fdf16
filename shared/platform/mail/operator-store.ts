import { bigint, instant, integer, type RowOf, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { composeStatement, type Statement, statement } from '#shared/platform/db/statements/statement.ts'
import type { MailStatus } from '#shared/platform/mail/mail.ts'

// What the operator sees of the outbox: whose mails wait and why, never what they say.

const columns = {
  id: uuid.notNull,
  kind: text.notNull,
  workspace_id: uuid,
  workspace: text,
  recipient: text.notNull,
  status: text.as<MailStatus>().notNull,
  attempts: integer.notNull,
  last_error: text,
  created_at: instant.notNull,
  sent_at: instant,
}

interface MailFilter {
  readonly statuses?: readonly MailStatus[] | undefined
  readonly workspaceId?: string | undefined
  readonly recipient?: string | undefined
  readonly limit: number
}

/**
 * Lists mails, newest first: those of some statuses, a workspace or a recipient where one is given. Planned for its values, so that statuses
 * of mails that were not sent are found by their own index.
 */
export const listMails = (filter: MailFilter): Statement<ListedMail> =>
  composeStatement(
    `select mail.id, mail.kind, mail.workspace_id, workspaces.name as workspace, mail.recipient, mail.status, mail.attempts, mail.last_error,
     mail.created_at, mail.sent_at
   from outbox_mails as mail left join workspaces on workspaces.id = mail.workspace_id
   where ($statuses::text[] is null or mail.status = any($statuses))
     and ($workspaceId::uuid is null or mail.workspace_id = $workspaceId)
     and ($recipient::text is null or lower(mail.recipient) = lower($recipient))
   order by mail.created_at desc, mail.id desc limit $limit`,
    { params: { statuses: texts.orNull, workspaceId: uuid.orNull, recipient: text.orNull, limit: bigint }, columns },
    filter,
  )

/** A mail as operators see it. */
export type ListedMail = RowOf<typeof columns>

/** Counts the mails that wait to be sent: all, or those of a workspace. */
export const countWaitingMails = statement(
  'mail.countWaitingMails',
  `select count(*)::integer as waiting from outbox_mails
   where status = 'queued' and ($workspaceId::uuid is null or workspace_id = $workspaceId)`,
  { params: { workspaceId: uuid.orNull }, columns: { waiting: integer.notNull } },
)

/** Lets the mails that wait for a time be sent at once, but for those of suspended workspaces and those that a server may have. */
export const makeMailsDue = statement(
  'mail.makeMailsDue',
  `update due_work as due set at = least(due.at, $now)
   from outbox_mails as mail
   where due.kind = $kind and mail.id::text = due.subject and mail.status = 'queued' and not due.held
     and ($workspaceId::uuid is null or mail.workspace_id = $workspaceId)
   returning due.subject`,
  { params: { kind: text, now: instant, workspaceId: uuid.orNull }, columns: { subject: text.notNull } },
)
