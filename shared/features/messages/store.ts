import { sql } from '#shared/platform/db/statements/statement.ts'
import { messageKind } from '#shared/platform/mail/mail.ts'

/**
 * Adds a message to the outbox, with status skipped when its recipient is on the do-not-contact list. Returns no row when the deduplication
 * key is taken. Values: workspace, id, connection, recipient, the recipient's `contactKeys`, subject, text, HTML, headers, template, record
 * type, record, deduplication key or null, time.
 */
export const insertMessage = sql(
  'insert_message',
  `insert into outbox_mails (workspace_id, id, kind, connection_id, recipient, contact_keys, subject, body_text, body_html, headers,
     template_id, record_type, record_id, natural_key, created_at, status)
   select $1::uuid, $2, '${messageKind}', $3, $4, $5::text[], $6, $7, $8, $9, $10, $11, $12, $13, $14,
     case when exists (select from do_not_contact where workspace_id = $1::uuid and address = any($5::text[])) then 'skipped' else 'queued' end
   on conflict (workspace_id, natural_key) where natural_key is not null do nothing
   returning id, status`,
)

/** Id and status of the message with a deduplication key. Values: workspace, key. */
export const findMessageByDeduplicationKey = sql(
  'find_message_by_key',
  'select id, status from outbox_mails where workspace_id = $1 and natural_key = $2',
)

const listed = 'id, recipient as "to", subject, status, attempts, last_error as error, created_at, sent_at'

/** A page of messages, newest first. Values: workspace, id of the last message of the previous page, status or null, page size. */
export const findMessages = sql(
  'find_messages',
  `select ${listed} from outbox_mails
   where workspace_id = $1 and kind = '${messageKind}' and id < $2 and ($3::text is null or status = $3) order by id desc limit $4`,
)

/**
 * As `findMessages`, for the messages about one record. Values: workspace, id of the last message of the previous page, status or null,
 * page size, record.
 */
export const findRecordMessages = sql(
  'find_record_messages',
  `select ${listed} from outbox_mails
   where workspace_id = $1 and kind = '${messageKind}' and id < $2 and ($3::text is null or status = $3) and record_id = $5
   order by id desc limit $4`,
)

/** A message, with its bodies while they are kept. Values: workspace, id. */
export const findMessage = sql(
  'find_message',
  `select ${listed}, connection_id, template_id, record_type, record_id, case when is_erased then null else body_text end as body_text, body_html
   from outbox_mails where workspace_id = $1 and kind = '${messageKind}' and id = $2`,
)

/**
 * The recipient of a message, the workspace that sent it, and whether the recipient is on the do-not-contact list. For the unsubscribe
 * page. Values: workspace, id.
 */
export const findUnsubscribingRecipient = sql(
  'find_message_recipient',
  `select mail.recipient, workspace.name as workspace, workspace.color, workspace.logo, exists (
     select from do_not_contact as stop where stop.workspace_id = $1 and stop.address = any(mail.contact_keys)
   ) as "isStopped"
   from outbox_mails as mail join workspaces as workspace on workspace.id = mail.workspace_id
   where mail.workspace_id = $1 and mail.kind = '${messageKind}' and mail.id = $2`,
)

/** Marks a message as bounced, if it was sent or may have been. Values: workspace, connection, id, reason. */
export const markBounced = sql(
  'note_message_bounce',
  `update outbox_mails set status = 'bounced', last_error = $4
   where workspace_id = $1 and connection_id = $2 and id = $3 and status in ('sending', 'sent', 'uncertain')`,
)

/** The recipient of a message of a connection. Values: workspace, connection, id. */
export const findRecipientByConnection = sql(
  'find_recipient_of_connection',
  'select recipient from outbox_mails where workspace_id = $1 and connection_id = $2 and id = $3',
)
