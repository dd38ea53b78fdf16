import type { ProviderName } from '#shared/features/payments/connections/schemas.ts'
import type { LinkStatus } from '#shared/features/payments/links/schemas.ts'
import { declareConflicts } from '#shared/platform/db/database-errors.ts'
import { bigint, instant, numeric, type RowOf, selectList, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

declareConflicts({ payment_links_workspace_id_connection_id_fkey: ['NOT_FOUND', 'There is no such connection'] })

const columns = {
  id: uuid.notNull,
  connection_id: uuid.notNull,
  provider: text.as<ProviderName>().notNull,
  /** Null until the provider has answered. */
  provider_link_id: text,
  short_url: text.notNull,
  amount: numeric.notNull,
  currency: text.notNull,
  status: text.as<LinkStatus>().notNull,
  description: text.notNull,
  invoice_id: uuid,
  redirect_url: text,
  customer_name: text.notNull,
  customer_email: text.notNull,
  customer_contact: text.notNull,
  created_at: instant.notNull,
  expires_at: instant.notNull,
  paid_at: instant,
  payment_record_id: uuid,
}
const list = selectList(columns)

/** A stored link. */
export type Link = RowOf<typeof columns>

/** One link. */
export const selectLink = statement(
  'payments.selectLink',
  `select ${list} from payment_links where workspace_id = $workspaceId and id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Reads a link and locks its row until the transaction ends. */
export const lockLink = statement(
  'payments.lockLink',
  `select ${list} from payment_links where workspace_id = $workspaceId and id = $id for update`,
  { params: { workspaceId: uuid, id: uuid }, columns },
)

/** Reads the oldest link of a connection with a provider's id and locks its row. */
export const lockLinkOfProvider = statement(
  'payments.lockLinkOfProvider',
  `select ${list} from payment_links
   where workspace_id = $workspaceId and connection_id = $connectionId and provider_link_id = $providerLinkId
   order by created_at, id limit 1 for update`,
  { params: { workspaceId: uuid, connectionId: uuid, providerLinkId: text }, columns },
)

/** The first page of links, newest first. */
export const findNewestLinks = statement(
  'payments.findNewestLinks',
  `select ${list} from payment_links where workspace_id = $workspaceId order by created_at desc, id desc limit $limit`,
  { params: { workspaceId: uuid, limit: bigint }, columns },
)

/** The page of links after a link, newest first; empty when that link does not exist. */
export const findLinksAfter = statement(
  'payments.findLinksAfter',
  `select ${list} from payment_links
   where workspace_id = $workspaceId
     and (created_at, id) < (select created_at, id from payment_links where workspace_id = $workspaceId and id = $afterId)
   order by created_at desc, id desc limit $limit`,
  { params: { workspaceId: uuid, afterId: uuid, limit: bigint }, columns },
)

/** Inserts a link's row; returns no row when the deduplication key is taken. */
export const insertLink = statement(
  'payments.insertLink',
  `insert into payment_links (
     workspace_id, id, connection_id, provider, amount, currency, description, invoice_id, redirect_url,
     customer_name, customer_email, customer_contact, expires_at, created_at, created_by, deduplication_key
   )
   values (
     $workspaceId, $id, $connectionId, $provider, $amount, $currency, $description, $invoiceId, $redirectUrl,
     $customerName, $customerEmail, $customerContact, $expiresAt, $createdAt, $createdBy, $deduplicationKey
   )
   on conflict on constraint payment_links_deduplication_key do nothing
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      connectionId: uuid,
      provider: text,
      amount: numeric,
      currency: text,
      description: text,
      invoiceId: uuid.orNull,
      redirectUrl: text.orNull,
      customerName: text,
      customerEmail: text,
      customerContact: text,
      expiresAt: instant,
      createdAt: instant,
      createdBy: uuid.orNull,
      deduplicationKey: text,
    },
    columns,
  },
)

/** The link with a deduplication key. */
export const findLinkByKey = statement(
  'payments.findLinkByKey',
  `select ${list} from payment_links where workspace_id = $workspaceId and deduplication_key = $deduplicationKey`,
  { params: { workspaceId: uuid, deduplicationKey: text }, columns },
)

/** Saves a link's id and address at its provider; returns no row when an id is already saved. */
export const setProviderLink = statement(
  'payments.setProviderLink',
  `update payment_links set provider_link_id = $providerLinkId, short_url = $shortUrl
   where workspace_id = $workspaceId and id = $id and provider_link_id is null
   returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, providerLinkId: text, shortUrl: text }, columns },
)

/** Deletes a link that its provider refused to create. */
export const deleteUnmadeLink = statement(
  'payments.deleteUnmadeLink',
  `delete from payment_links where workspace_id = $workspaceId and id = $id and provider_link_id is null and status = 'created'`,
  { params: { workspaceId: uuid, id: uuid } },
)

/** Marks a link as paid, also an ended one; returns no row when it is already paid. */
export const markPaid = statement(
  'payments.markPaid',
  `update payment_links set status = 'paid', paid_at = $paidAt, payment_record_id = $paymentRecordId
   where workspace_id = $workspaceId and id = $id and status <> 'paid'
   returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, paidAt: instant.orNull, paymentRecordId: uuid }, columns },
)

/** Ends an open link. */
export const markEnded = statement(
  'payments.markEnded',
  `update payment_links set status = $status where workspace_id = $workspaceId and id = $id and status = 'created' returning ${list}`,
  { params: { workspaceId: uuid, id: uuid, status: text.as<'cancelled' | 'expired'>() }, columns },
)

/** Replaces the payments record of a paid link. */
export const replacePaymentRecord = statement(
  'payments.replacePaymentRecord',
  `update payment_links set payment_record_id = $paymentRecordId where workspace_id = $workspaceId and id = $id and status = 'paid'`,
  { params: { workspaceId: uuid, id: uuid, paymentRecordId: uuid } },
)

/** A page of a connection's open links, ordered by id, after the last link of the page before. */
export const findOpenLinks = statement(
  'payments.findOpenLinks',
  `select ${list} from payment_links
   where workspace_id = $workspaceId and connection_id = $connectionId and status = 'created' and id > $afterId
   order by id limit $limit`,
  { params: { workspaceId: uuid, connectionId: uuid, afterId: uuid, limit: bigint }, columns },
)

/** Open links of a connection whose creation the provider has not answered, newest first. */
export const findUnmadeLinks = statement(
  'payments.findUnmadeLinks',
  `select ${list} from payment_links
   where workspace_id = $workspaceId and connection_id = $connectionId and status = 'created' and provider_link_id is null
     and created_at < $createdBefore
   order by id desc limit $limit`,
  { params: { workspaceId: uuid, connectionId: uuid, createdBefore: instant, limit: bigint }, columns },
)

/** The number of links by status. */
export const countLinks = statement(
  'payments.countLinks',
  'select status, count(*) from payment_links where workspace_id = $workspaceId group by status order by status',
  { params: { workspaceId: uuid }, columns: { status: text.as<LinkStatus>().notNull, count: bigint.notNull } },
)
