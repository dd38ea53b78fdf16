import type { DoNotContactEntry } from '#shared/features/messages/do-not-contact/schemas.ts'
import { bigint, instant, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

// Addresses on the list are normalized by `contactKey`.

const reason = text.as<DoNotContactEntry['reason']>()

const columns = { address: text.notNull, reason: reason.notNull, message_id: uuid, created_at: instant.notNull }
const list = selectList(columns)

/** A page of the do-not-contact list after an address, in alphabetical order. */
export const findDoNotContact = statement(
  'messages.findDoNotContact',
  `select ${list} from do_not_contact where workspace_id = $workspaceId and address > $afterAddress order by address limit $limit`,
  { params: { workspaceId: uuid, afterAddress: text, limit: bigint }, columns },
)

/** The entry of an address. */
export const findDoNotContactByKey = statement(
  'messages.findDoNotContactByKey',
  `select ${list} from do_not_contact where workspace_id = $workspaceId and address = $address`,
  { params: { workspaceId: uuid, address: text }, columns },
)

/** Puts an address on the list because of a message; an existing entry stays unchanged. */
export const insertDoNotContact = statement(
  'messages.insertDoNotContact',
  `insert into do_not_contact (workspace_id, address, reason, message_id, created_at)
   values ($workspaceId, $address, $reason, $messageId, $createdAt) on conflict do nothing`,
  { params: { workspaceId: uuid, address: text, reason, messageId: uuid, createdAt: instant } },
)

/** Removes an address from the list. */
export const deleteDoNotContact = statement(
  'messages.deleteDoNotContact',
  'delete from do_not_contact where workspace_id = $workspaceId and address = $address returning address',
  { params: { workspaceId: uuid, address: text }, columns: { address: text.notNull } },
)
