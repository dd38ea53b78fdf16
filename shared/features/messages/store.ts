import { bigint, boolean, instant, integer, jsonb, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { type MailStatus, messageKind } from '#shared/platform/mail/mail.ts'
import { insertOutcomes, outcomeColumns } from '#shared/platform/mail/outcomes-store.ts'

const status = text.as<MailStatus>()

/** The columns of a message that its sender reads. */
const sentColumns = { id: uuid.notNull, status: status.notNull }

/**
 * Adds a message to the outbox, with status skipped when one of the recipient's `contactKeys` is on the do-not-contact list. Returns no row
 * when the deduplication key is taken.
 */
export const insertMessage = statement(
  'messages.insertMessage',
  `insert into outbox_mails (
     workspace_id, id, kind, connection_id, recipient, contact_keys, subject, body_text, body_html, headers,
     template_id, record_type, record_id, deduplication_key, cause, created_at, status
   )
   select
     $workspaceId::uuid, $id, '${messageKind}', $connectionId, $recipient, $contactKeys::text[], $subject, $bodyText, $bodyHtml, $headers,
     $templateId, $recordType, $recordId, $deduplicationKey, $cause, $createdAt,
     case when exists (select from do_not_contact where workspace_id = $workspaceId::uuid and address = any($contactKeys::text[]))
       then 'skipped' else 'queued' end
   on conflict (workspace_id, deduplication_key) where deduplication_key is not null do nothing
   returning id, status`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      connectionId: uuid,
      recipient: text,
      contactKeys: texts,
      subject: text,
      bodyText: text,
      bodyHtml: text.orNull,
      headers: jsonb,
      templateId: uuid.orNull,
      recordType: text.orNull,
      recordId: uuid.orNull,
      deduplicationKey: text.orNull,
      cause: jsonb,
      createdAt: instant,
    },
    columns: sentColumns,
  },
)

/** Id and status of the message with a deduplication key. */
export const findMessageByKey = statement(
  'messages.findMessageByKey',
  'select id, status from outbox_mails where workspace_id = $workspaceId and deduplication_key = $deduplicationKey',
  { params: { workspaceId: uuid, deduplicationKey: text.orNull }, columns: sentColumns },
)

const columns = {
  id: uuid.notNull,
  to: text.notNull,
  subject: text.notNull,
  status: status.notNull,
  attempts: integer.notNull,
  error: text,
  created_at: instant.notNull,
  sent_at: instant,
}
const list = 'id, recipient as "to", subject, status, attempts, last_error as error, created_at, sent_at'

/** A page starts after the message `beforeId`, the last one of the previous page. */
const pageParams = { workspaceId: uuid, beforeId: uuid, status: status.orNull, limit: bigint }

/** A page of messages with a status, or with any, newest first. */
export const findMessages = statement(
  'messages.findMessages',
  `select ${list} from outbox_mails
   where workspace_id = $workspaceId and kind = '${messageKind}' and id < $beforeId and ($status::text is null or status = $status)
   order by id desc limit $limit`,
  { params: pageParams, columns },
)

/** A page of the messages about one record with a status, or with any, newest first. */
export const findRecordMessages = statement(
  'messages.findRecordMessages',
  `select ${list} from outbox_mails
   where workspace_id = $workspaceId and kind = '${messageKind}' and id < $beforeId and ($status::text is null or status = $status)
     and record_id = $recordId
   order by id desc limit $limit`,
  { params: { ...pageParams, recordId: uuid }, columns },
)

/** A message, with its bodies while they are kept. */
export const findMessage = statement(
  'messages.findMessage',
  `select ${list}, connection_id, template_id, record_type, record_id, case when is_erased then null else body_text end as body_text, body_html
   from outbox_mails where workspace_id = $workspaceId and kind = '${messageKind}' and id = $id`,
  {
    params: { workspaceId: uuid, id: uuid },
    columns: {
      ...columns,
      connection_id: uuid,
      template_id: uuid,
      record_type: text,
      record_id: uuid,
      body_text: text,
      body_html: text,
    },
  },
)

/**
 * The recipient of a message, the workspace that sent it, and whether the recipient is on the do-not-contact list. For the unsubscribe
 * page.
 */
export const findUnsubscribingRecipient = statement(
  'messages.findUnsubscribingRecipient',
  `select mail.recipient, workspace.name as workspace, workspace.color, workspace.logo, exists (
     select from do_not_contact as stop where stop.workspace_id = $workspaceId and stop.address = any(mail.contact_keys)
   ) as "isStopped"
   from outbox_mails as mail join workspaces as workspace on workspace.id = mail.workspace_id
   where mail.workspace_id = $workspaceId and mail.kind = '${messageKind}' and mail.id = $id`,
  {
    params: { workspaceId: uuid, id: uuid },
    columns: { recipient: text.notNull, workspace: text.notNull, color: text, logo: text, isStopped: boolean.notNull },
  },
)

/** Marks a message as bounced, if it was sent or may have been, and announces that. */
export const markBounced = statement(
  'messages.markBounced',
  `with changed as (
     update outbox_mails set status = 'bounced', last_error = $reason
     where workspace_id = $workspaceId and connection_id = $connectionId and id = $id and status in ('sending', 'sent', 'uncertain')
     returning ${outcomeColumns}
   )
   ${insertOutcomes}`,
  { params: { workspaceId: uuid, connectionId: uuid, id: uuid, reason: text } },
)

/** The recipient of a message of a connection. */
export const findRecipientByConnection = statement(
  'messages.findRecipientByConnection',
  'select recipient from outbox_mails where workspace_id = $workspaceId and connection_id = $connectionId and id = $id',
  { params: { workspaceId: uuid, connectionId: uuid, id: uuid }, columns: { recipient: text.notNull } },
)
