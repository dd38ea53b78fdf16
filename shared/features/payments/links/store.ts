import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ payment_links_workspace_id_connection_id_fkey: ['NOT_FOUND', 'There is no such connection'] })

const columns = `id, connection_id, provider, provider_link_id, short_url, amount, currency, status, description, invoice_id, redirect_url,
  customer_name, customer_email, customer_contact, created_at, expires_at, paid_at, payment_record_id`

/** One link. Values: workspace, id. */
export const selectLink = sql('find_payment_link', `select ${columns} from payment_links where workspace_id = $1 and id = $2`)

/** The same, which nobody else changes until the transaction ends. Values: workspace, id. */
export const lockLink = sql('lock_payment_link', `select ${columns} from payment_links where workspace_id = $1 and id = $2 for update`)

/** The link of a connection under its provider's id, locked. Values: workspace, connection, provider's id. */
export const lockLinkOfProvider = sql(
  'lock_provider_link',
  `select ${columns} from payment_links where workspace_id = $1 and connection_id = $2 and provider_link_id = $3
   order by created_at, id limit 1 for update`,
)

/** A page of links, newest first. Values: workspace, how many. */
export const findNewestLinks = sql(
  'find_newest_payment_links',
  `select ${columns} from payment_links where workspace_id = $1 order by created_at desc, id desc limit $2`,
)

/** The page after a link; no row with `known` when there is no such link. Values: workspace, link, how many. */
export const findLinksAfter = sql(
  'find_payment_links_after',
  `select ${columns} from payment_links
   where workspace_id = $1 and (created_at, id) < (select created_at, id from payment_links where workspace_id = $1 and id = $2)
   order by created_at desc, id desc limit $3`,
)

/**
 * Makes a link's row, once for its natural key. Values: workspace, id, connection, provider, amount, currency, description, invoice,
 * redirect address, name, mail, contact, expiry, time, maker, natural key.
 */
export const insertLink = sql(
  'insert_payment_link',
  `insert into payment_links (workspace_id, id, connection_id, provider, amount, currency, description, invoice_id, redirect_url,
     customer_name, customer_email, customer_contact, expires_at, created_at, created_by, natural_key)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
   on conflict on constraint payment_links_natural_key do nothing
   returning ${columns}`,
)

/** The link that something asked for before. Values: workspace, natural key. */
export const findLinkByKey = sql(
  'find_payment_link_by_key',
  `select ${columns} from payment_links where workspace_id = $1 and natural_key = $2`,
)

/** Notes what a provider made of a link; what is noted stays. Values: workspace, id, provider's id, address. */
export const setProviderLink = sql(
  'note_made_payment_link',
  `update payment_links set provider_link_id = $3, short_url = $4 where workspace_id = $1 and id = $2 and provider_link_id is null
   returning ${columns}`,
)

/** Takes away a link that its provider refused to make. Values: workspace, id. */
export const deleteUnmadeLink = sql(
  'delete_unmade_payment_link',
  `delete from payment_links where workspace_id = $1 and id = $2 and provider_link_id is null and status = 'created'`,
)

/** Turns a link paid, from any state but that. Values: workspace, id, time, payments record. */
export const markPaid = sql(
  'mark_payment_link_paid',
  `update payment_links set status = 'paid', paid_at = $3, payment_record_id = $4
   where workspace_id = $1 and id = $2 and status <> 'paid' returning ${columns}`,
)

/** Ends a link that is open. Values: workspace, id, cancelled or expired. */
export const markEnded = sql(
  'mark_payment_link_ended',
  `update payment_links set status = $3 where workspace_id = $1 and id = $2 and status = 'created' returning ${columns}`,
)

/** Names the payments record of a paid link anew. Values: workspace, id, payments record. */
export const replacePaymentRecord = sql(
  'rename_payment_record',
  `update payment_links set payment_record_id = $3 where workspace_id = $1 and id = $2 and status = 'paid'`,
)

/** The open links of a connection after one. Values: workspace, connection, id, how many. */
export const findOpenLinks = sql(
  'find_open_payment_links',
  `select ${columns} from payment_links where workspace_id = $1 and connection_id = $2 and status = 'created' and id > $3 order by id limit $4`,
)

/** The open links of a connection that its provider has not answered for. Values: workspace, connection, made before, how many. */
export const findUnmadeLinks = sql(
  'find_unmade_payment_links',
  `select ${columns} from payment_links
   where workspace_id = $1 and connection_id = $2 and status = 'created' and provider_link_id is null and created_at < $3
   order by id desc limit $4`,
)

/** How many links stand where. Values: workspace. */
export const countLinks = sql(
  'count_payment_links',
  'select status, count(*) from payment_links where workspace_id = $1 group by status order by status',
)
