import { sql } from '#shared/platform/db/statements/statement.ts'

const columns = 'address, reason, message_id, created_at'

/** A page of the do-not-contact list, in alphabetical order. Values: workspace, last address of the previous page, page size. */
export const findDoNotContact = sql(
  'find_do_not_contact',
  `select ${columns} from do_not_contact where workspace_id = $1 and address > $2 order by address limit $3`,
)

/** The entry of an address. Values: workspace, address normalized by `contactKey`. */
export const findDoNotContactByKey = sql(
  'find_do_not_contact_one',
  `select ${columns} from do_not_contact where workspace_id = $1 and address = $2`,
)

/**
 * Puts an address on the list; an existing entry stays unchanged. Values: workspace, address normalized by `contactKey`, reason, message,
 * time.
 */
export const insertDoNotContact = sql(
  'stop_contact',
  `insert into do_not_contact (workspace_id, address, reason, message_id, created_at) values ($1, $2, $3, $4, $5) on conflict do nothing`,
)

/** Removes an address from the list. Values: workspace, address normalized by `contactKey`. */
export const deleteDoNotContact = sql(
  'allow_contact',
  'delete from do_not_contact where workspace_id = $1 and address = $2 returning address',
)
