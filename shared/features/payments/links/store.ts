import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ payment_links_workspace_id_connection_id_fkey: ['NOT_FOUND', 'There is no such connection'] })

const columns = `id, connection_id, provider, provider_link_id, short_url, amount, currency, status, description, invoice_id, redirect_url,
  customer_name, customer_email, customer_contact, created_at, expires_at, paid_at, payment_record_id`

/** One link. Values: workspace, id. */
export const selectLink = sql('find_payment_link', `select ${columns} from payment_links where workspace_id = $1 and id = $2`)

/** Reads a link and locks its row until the transaction ends. Values: workspace, id. */
export const lockLink = sql('lock_payment_link', `select ${columns} from payment_links where workspace_id = $1 and id = $2 for update`)

/** Reads the link of a connection with a provider's id and locks its row. Values: workspace, connection, provider's link id. */
export const lockLinkOfProvider = sql(
  'lock_provider_link',
  `select ${columns} from payment_links where workspace_id = $1 and connection_id = $2 and provider_link_id = $3
   order by created_at, id limit 1 for update`,
)

/** The first page of links, newest first. Values: workspace, page size. */
export const findNewestLinks = sql(
  'find_newest_payment_links',
  `select ${columns} from payment_links where workspace_id = $1 order by created_at desc, id desc limit $2`,
)

/** The page of links after a link, newest first; empty when that link does not exist. Values: workspace, link, page size. */
export const findLinksAfter = sql(
  'find_payment_links_after',
  `select ${columns} from payment_links
   where workspace_id = $1 and (created_at, id) < (select created_at, id from payment_links where workspace_id = $1 and id = $2)
   order by created_at desc, id desc limit $3`,
)

/**
 * Inserts a link's row; returns no row when the deduplication key is taken. Values: workspace, id, connection, provider, amount, currency,
 * description, invoice, redirect address, customer's name, email and contact, expiry, time, creator, deduplication key.
 */
export const insertLink = sql(
  'insert_payment_link',
  `insert into payment_links (workspace_id, id, connection_id, provider, amount, currency, description, invoice_id, redirect_url,
     customer_name, customer_email, customer_contact, expires_at, created_at, created_by, natural_key)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
   on conflict on constraint payment_links_natural_key do nothing
   returning ${columns}`,
)

/** The link with a deduplication key. Values: workspace, key. */
export const findLinkByKey = sql(
  'find_payment_link_by_key',
  `select ${columns} from payment_links where workspace_id = $1 and natural_key = $2`,
)

/**
 * Saves a link's id and address at its provider; returns no row when an id is already saved. Values: workspace, id, provider's link id,
 * address.
 */
export const setProviderLink = sql(
  'note_made_payment_link',
  `update payment_links set provider_link_id = $3, short_url = $4 where workspace_id = $1 and id = $2 and provider_link_id is null
   returning ${columns}`,
)

/** Deletes a link that its provider refused to create. Values: workspace, id. */
export const deleteUnmadeLink = sql(
  'delete_unmade_payment_link',
  `delete from payment_links where workspace_id = $1 and id = $2 and provider_link_id is null and status = 'created'`,
)

/** Marks a link as paid, also an ended one; returns no row when it is already paid. Values: workspace, id, time, payments record. */
export const markPaid = sql(
  'mark_payment_link_paid',
  `update payment_links set status = 'paid', paid_at = $3, payment_record_id = $4
   where workspace_id = $1 and id = $2 and status <> 'paid' returning ${columns}`,
)

/** Ends an open link. Values: workspace, id, cancelled or expired. */
export const markEnded = sql(
  'mark_payment_link_ended',
  `update payment_links set status = $3 where workspace_id = $1 and id = $2 and status = 'created' returning ${columns}`,
)

/** Replaces the payments record of a paid link. Values: workspace, id, payments record. */
export const replacePaymentRecord = sql(
  'rename_payment_record',
  `update payment_links set payment_record_id = $3 where workspace_id = $1 and id = $2 and status = 'paid'`,
)

/** A page of a connection's open links, ordered by id. Values: workspace, connection, id of the previous page's last link, page size. */
export const findOpenLinks = sql(
  'find_open_payment_links',
  `select ${columns} from payment_links where workspace_id = $1 and connection_id = $2 and status = 'created' and id > $3 order by id limit $4`,
)

/**
 * Open links of a connection whose creation the provider has not answered, newest first. Values: workspace, connection, created before,
 * maximum number.
 */
export const findUnmadeLinks = sql(
  'find_unmade_payment_links',
  `select ${columns} from payment_links
   where workspace_id = $1 and connection_id = $2 and status = 'created' and provider_link_id is null and created_at < $3
   order by id desc limit $4`,
)

/** The number of links by status. Values: workspace. */
export const countLinks = sql(
  'count_payment_links',
  'select status, count(*) from payment_links where workspace_id = $1 group by status order by status',
)
