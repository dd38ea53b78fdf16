import { sql } from '#shared/platform/db/statements/statement.ts'

/** A payment with the facts that its provider has reported so far. */
export interface ProviderPayment {
  readonly connection_id: string
  readonly provider_payment_id: string
  readonly link_id: string | null
  readonly amount: string | null
  readonly currency: string | null
  readonly paid_at: string | null
  readonly payer_name: string
  readonly payer_email: string
  readonly fits: boolean
  readonly late: boolean
  readonly refunded: string
  readonly disputed: boolean
  readonly recorded_at: string | null
  readonly payment_record_id: string | null
}

const columns = `connection_id, provider_payment_id, link_id, amount, currency, paid_at, payer_name, payer_email, fits, late, refunded,
  disputed, recorded_at, payment_record_id`

/** Reads a payment and locks its row until the transaction ends. Values: workspace, connection, id. */
export const lockPayment = sql(
  'lock_provider_payment',
  `select ${columns} from provider_payments where workspace_id = $1 and connection_id = $2 and provider_payment_id = $3 for update`,
)

/**
 * The id of a payment's link, read without a lock, since a link is always locked before its payments. Values: workspace, connection, id.
 */
export const findLinkOfPayment = sql(
  'find_link_of_payment',
  'select link_id from provider_payments where workspace_id = $1 and connection_id = $2 and provider_payment_id = $3',
)

/**
 * Inserts a payment, or adds reported facts to it. Known facts stay, with these exceptions: amount and currency of a payment that fits
 * replace others, `late` may change until the payment is recorded, the larger refund counts, and `disputed` changes unless null. Values:
 * workspace, connection, id, link, amount, currency, time of payment, payer's name, payer's email, fits, late, refunded or null, disputed
 * or null, time.
 */
export const upsertPayment = sql(
  'put_provider_payment',
  `insert into provider_payments as known (workspace_id, connection_id, provider_payment_id, link_id, amount, currency, paid_at, payer_name,
     payer_email, fits, late, refunded, disputed, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::numeric, 0), coalesce($13::boolean, false), $14)
   on conflict (workspace_id, connection_id, provider_payment_id) do update set
     link_id = coalesce(known.link_id, excluded.link_id),
     amount = case when excluded.fits then excluded.amount else coalesce(known.amount, excluded.amount) end,
     currency = case when excluded.fits then excluded.currency else coalesce(known.currency, excluded.currency) end,
     paid_at = coalesce(known.paid_at, excluded.paid_at),
     payer_name = coalesce(nullif(known.payer_name, ''), excluded.payer_name),
     payer_email = coalesce(nullif(known.payer_email, ''), excluded.payer_email),
     fits = known.fits or excluded.fits,
     late = case when known.recorded_at is null then excluded.late else known.late end,
     refunded = greatest(known.refunded, excluded.refunded),
     disputed = coalesce($13::boolean, known.disputed)
   returning ${columns}`,
)

/**
 * Saves which payments record was created for a payment; the time that was saved first stays. Values: workspace, connection, id, record,
 * time.
 */
export const savePaymentRecord = sql(
  'note_payment_record',
  `update provider_payments set payment_record_id = $4, recorded_at = coalesce(recorded_at, $5)
   where workspace_id = $1 and connection_id = $2 and provider_payment_id = $3`,
)

/** The payments of links, in the order in which they were first reported. Values: workspace, links. */
export const findPaymentsOfLinks = sql(
  'find_provider_payments',
  `select ${columns} from provider_payments where workspace_id = $1 and link_id = any($2::uuid[]) order by created_at, provider_payment_id`,
)

/** Appends an entry to a link's timeline. Values: workspace, link, time, source, event, payment, status before, status after, verdict. */
export const insertTimelineEntry = sql(
  'insert_payment_timeline',
  `insert into payment_timeline (workspace_id, link_id, at, source, provider_event_id, provider_payment_id, before, after, verdict)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
)

/** The latest entries of a link's timeline, oldest first. Values: workspace, link, maximum number. */
export const findTimelineEntries = sql(
  'find_payment_timeline',
  `select at, source, provider_event_id, provider_payment_id, before, after, verdict
   from (
     select id, at, source, provider_event_id, provider_payment_id, before, after, verdict from payment_timeline
     where workspace_id = $1 and link_id = $2 order by id desc limit $3
   ) as line
   order by id`,
)
