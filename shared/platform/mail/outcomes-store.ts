import { insertHappenings } from '#shared/platform/events/inbox-store.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import { messageKind } from '#shared/platform/mail/mail.ts'

/** What `insertOutcomes` reads of changed mails. */
export const outcomeColumns = `outbox_mails.workspace_id, outbox_mails.id, outbox_mails.kind, old.status as earlier_status, new.status,
     outbox_mails.connection_id, outbox_mails.template_id, outbox_mails.record_type, outbox_mails.record_id, outbox_mails.cause`

/** Cause of messages of releases that did not keep it. */
const unknownCause = JSON.stringify(platformCause(''))

/**
 * SQL that inserts the events of messages that the statement's table `changed` has sent, failed or bounced, once for each outcome. Their actor
 * and cause are those of the sending, also when a provider reports the outcome.
 */
export const insertOutcomes = insertHappenings({
  source: 'messages',
  workspace: 'happened.workspace_id',
  cause: 'happened.cause',
  from: `select workspace_id, status as event, '' as topic, id as subject_id, jsonb_build_object('id', id) as subject,
     jsonb_build_object('connection_id', connection_id, 'template_id', template_id, 'record_type', record_type, 'record_id', record_id) as data,
     null::jsonb as kept, coalesce(cause, '${unknownCause}') as cause, id as position
   from changed
   where kind = '${messageKind}' and status in ('sent', 'failed', 'bounced') and status <> earlier_status`,
})
