import type { LinkStatus, Timeline, TimelineVerdict } from '#shared/features/payments/links/schemas.ts'
import { bigint, boolean, instant, numeric, type RowOf, selectList, text, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

const columns = {
  connection_id: uuid.notNull,
  provider_payment_id: text.notNull,
  link_id: uuid,
  amount: numeric,
  currency: text,
  paid_at: instant,
  payer_name: text.notNull,
  payer_email: text.notNull,
  fits: boolean.notNull,
  late: boolean.notNull,
  refunded: numeric.notNull,
  disputed: boolean.notNull,
  recorded_at: instant,
  payment_record_id: uuid,
}
const list = selectList(columns)

/** A payment with the facts that its provider has reported so far. */
export type ProviderPayment = RowOf<typeof columns>

/** Reads a payment and locks its row until the transaction ends. */
export const lockPayment = statement(
  'payments.lockPayment',
  `select ${list} from provider_payments
   where workspace_id = $workspaceId and connection_id = $connectionId and provider_payment_id = $paymentId for update`,
  { params: { workspaceId: uuid, connectionId: uuid, paymentId: text }, columns },
)

/** The id of a payment's link, read without a lock, since a link is always locked before its payments. */
export const findLinkOfPayment = statement(
  'payments.findLinkOfPayment',
  `select link_id from provider_payments
   where workspace_id = $workspaceId and connection_id = $connectionId and provider_payment_id = $paymentId`,
  { params: { workspaceId: uuid, connectionId: uuid, paymentId: text }, columns: { link_id: uuid } },
)

/**
 * Inserts a payment, or adds reported facts to it. Known facts stay, with these exceptions: amount and currency of a payment that fits
 * replace others, `late` may change until the payment is recorded, the larger refund counts, and `disputed` changes unless null.
 */
export const upsertPayment = statement(
  'payments.upsertPayment',
  `insert into provider_payments as known (
     workspace_id, connection_id, provider_payment_id, link_id, amount, currency, paid_at,
     payer_name, payer_email, fits, late, refunded, disputed, created_at
   )
   values (
     $workspaceId, $connectionId, $paymentId, $linkId, $amount, $currency, $paidAt,
     $payerName, $payerEmail, $fits, $late, coalesce($refunded::numeric, 0), coalesce($disputed::boolean, false), $createdAt
   )
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
     disputed = coalesce($disputed::boolean, known.disputed)
   returning ${list}`,
  {
    params: {
      workspaceId: uuid,
      connectionId: uuid,
      paymentId: text,
      linkId: uuid.orNull,
      amount: numeric.orNull,
      currency: text.orNull,
      paidAt: instant.orNull,
      payerName: text,
      payerEmail: text,
      fits: boolean,
      late: boolean,
      refunded: numeric.orNull,
      disputed: boolean.orNull,
      createdAt: instant,
    },
    columns,
  },
)

/** Saves which payments record was created for a payment; the time that was saved first stays. */
export const savePaymentRecord = statement(
  'payments.savePaymentRecord',
  `update provider_payments set payment_record_id = $recordId, recorded_at = coalesce(recorded_at, $recordedAt)
   where workspace_id = $workspaceId and connection_id = $connectionId and provider_payment_id = $paymentId`,
  { params: { workspaceId: uuid, connectionId: uuid, paymentId: text, recordId: uuid, recordedAt: instant } },
)

/** The payments of links, in the order in which they were first reported. */
export const findPaymentsOfLinks = statement(
  'payments.findPaymentsOfLinks',
  `select ${list} from provider_payments
   where workspace_id = $workspaceId and link_id = any($linkIds::uuid[]) order by created_at, provider_payment_id`,
  { params: { workspaceId: uuid, linkIds: uuids }, columns },
)

type TimelineSource = Timeline[number]['source']

/** Appends an entry to a link's timeline. */
export const insertTimelineEntry = statement(
  'payments.insertTimelineEntry',
  `insert into payment_timeline (workspace_id, link_id, at, source, provider_event_id, provider_payment_id, before, after, verdict)
   values ($workspaceId, $linkId, $at, $source, $eventId, $paymentId, $before, $after, $verdict)`,
  {
    params: {
      workspaceId: uuid,
      linkId: uuid,
      at: instant,
      source: text.as<TimelineSource>(),
      eventId: text.orNull,
      paymentId: text.orNull,
      before: text.as<LinkStatus>().orNull,
      after: text.as<LinkStatus>(),
      verdict: text.as<TimelineVerdict>(),
    },
  },
)

const timelineColumns = {
  at: instant.notNull,
  source: text.as<TimelineSource>().notNull,
  provider_event_id: text,
  provider_payment_id: text,
  before: text.as<LinkStatus>(),
  after: text.as<LinkStatus>().notNull,
  verdict: text.as<TimelineVerdict>().notNull,
}
const timelineList = selectList(timelineColumns)

/** The latest entries of a link's timeline, oldest first. */
export const findTimelineEntries = statement(
  'payments.findTimelineEntries',
  `select ${timelineList}
   from (
     select id, ${timelineList} from payment_timeline
     where workspace_id = $workspaceId and link_id = $linkId order by id desc limit $limit
   ) as line
   order by id`,
  { params: { workspaceId: uuid, linkId: uuid, limit: bigint }, columns: timelineColumns },
)
