import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = 'address, reason, message_id, created_at'

/** Addresses that want no messages, in the order of the alphabet. Values: workspace, the address to go on after, how many. */
export const findDoNotContact = sql(
  'find_do_not_contact',
  `select ${columns} from do_not_contact where workspace_id = $1 and address > $2 order by address limit $3`,
)

/** One of them. Values: workspace, address in its one spelling. */
export const findDoNotContactByKey = sql(
  'find_do_not_contact_one',
  `select ${columns} from do_not_contact where workspace_id = $1 and address = $2`,
)

/** Puts an address on the list; one that is there stays as it is. Values: workspace, address in its one spelling, reason, message, now. */
export const insertDoNotContact = sql(
  'stop_contact',
  `insert into do_not_contact (workspace_id, address, reason, message_id, created_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
)

/** Takes an address off the list. Values: workspace, address in its one spelling. */
export const deleteDoNotContact = sql(
  'allow_contact',
  'delete from do_not_contact where workspace_id = $1 and address = $2 returning address',
)
