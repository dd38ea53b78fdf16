import { bigint, boolean, instant, numeric, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'

type SandboxOutcome = 'paid' | 'declined'

const linkColumns = {
  id: uuid.notNull,
  connection_id: uuid.notNull,
  amount: numeric.notNull,
  currency: text.notNull,
  description: text.notNull,
  customer_name: text.notNull,
  customer_email: text.notNull,
  redirect_url: text,
  active: boolean.notNull,
  expires_at: instant.notNull,
  /** Id and time of the payment that paid the link; null while it is unpaid. */
  payment_id: text,
  paid_at: instant,
}

/** A link as the sandbox stores it. */
export type SandboxLink = RowOf<typeof linkColumns>

/** Stores a link unless it exists. */
export const insertSandboxLink = statement(
  'payments.insertSandboxLink',
  `insert into sandbox_links (
     workspace_id, connection_id, id, amount, currency, description,
     customer_name, customer_email, redirect_url, expires_at, created_at
   )
   values (
     $workspaceId, $connectionId, $id, $amount, $currency, $description,
     $customerName, $customerEmail, $redirectUrl, $expiresAt, $createdAt
   )
   on conflict do nothing`,
  {
    params: {
      workspaceId: uuid,
      id: uuid,
      connectionId: uuid,
      amount: numeric,
      currency: text,
      description: text,
      customerName: text,
      customerEmail: text,
      redirectUrl: text.orNull,
      expiresAt: instant,
      createdAt: instant,
    },
  },
)

/** One link, with the payment that paid it. */
export const findSandboxLink = statement(
  'payments.findSandboxLink',
  `select link.id, link.connection_id, link.amount, link.currency, link.description, link.customer_name, link.customer_email,
     link.redirect_url, link.active, link.expires_at, paid.id as payment_id, paid.created_at as paid_at
   from sandbox_links as link
   left join lateral (
     select payment.id, payment.created_at from sandbox_payments as payment
     where payment.workspace_id = link.workspace_id and payment.link_id = link.id and payment.outcome = 'paid'
     order by payment.created_at, payment.id limit 1
   ) as paid on true
   where link.workspace_id = $workspaceId and link.id = $id`,
  { params: { workspaceId: uuid, id: uuid }, columns: linkColumns },
)

/** Deactivates a link, so it can no longer be paid. */
export const closeSandboxLink = statement(
  'payments.closeSandboxLink',
  'update sandbox_links set active = false where workspace_id = $workspaceId and id = $id',
  { params: { workspaceId: uuid, id: uuid } },
)

/** Reads an active link that has not expired and locks its row until the transaction ends. */
export const lockPayableSandboxLink = statement(
  'payments.lockPayableSandboxLink',
  `select id, connection_id from sandbox_links
   where workspace_id = $workspaceId and id = $id and active and expires_at > $now for no key update`,
  { params: { workspaceId: uuid, id: uuid, now: instant }, columns: { id: uuid.notNull, connection_id: uuid.notNull } },
)

/** Stores a payer's action; returns no row when the link is already paid. */
export const insertSandboxPayment = statement(
  'payments.insertSandboxPayment',
  `insert into sandbox_payments (workspace_id, connection_id, id, link_id, outcome, payer_name, payer_email, created_at)
   select $workspaceId, $connectionId, $id, $linkId, $outcome, $payerName, $payerEmail, $createdAt
   where not exists (select from sandbox_payments where workspace_id = $workspaceId and link_id = $linkId and outcome = 'paid')
   on conflict do nothing
   returning id`,
  {
    params: {
      workspaceId: uuid,
      id: text,
      connectionId: uuid,
      linkId: uuid,
      outcome: text.as<SandboxOutcome>(),
      payerName: text,
      payerEmail: text,
      createdAt: instant,
    },
    columns: { id: text.notNull },
  },
)

const paymentColumns = {
  id: text.notNull,
  link_id: uuid.notNull,
  outcome: text.as<SandboxOutcome>().notNull,
  amount: numeric.notNull,
  currency: text.notNull,
  payer_name: text.notNull,
  payer_email: text.notNull,
  created_at: instant.notNull,
  connection_id: uuid.notNull,
}

/** A payer's action on the sandbox's pay page. */
export type SandboxPayment = RowOf<typeof paymentColumns>

const list = `payment.id, payment.link_id, payment.outcome, link.amount, link.currency, payment.payer_name, payment.payer_email,
  payment.created_at, payment.connection_id`
const joined = `sandbox_payments as payment
   join sandbox_links as link on link.workspace_id = payment.workspace_id and link.id = payment.link_id`

/** All payments of a link. */
export const findSandboxPayments = statement(
  'payments.findSandboxPayments',
  `select ${list} from ${joined}
   where payment.workspace_id = $workspaceId and payment.link_id = $linkId order by payment.created_at, payment.id`,
  { params: { workspaceId: uuid, linkId: uuid }, columns: paymentColumns },
)

/** One payment. */
export const findSandboxPayment = statement(
  'payments.findSandboxPayment',
  `select ${list} from ${joined} where payment.workspace_id = $workspaceId and payment.id = $id`,
  { params: { workspaceId: uuid, id: text }, columns: paymentColumns },
)

/** A page of a connection's payments in the order of time, after the last payment of the previous page. */
export const findSandboxPaymentsSince = statement(
  'payments.findSandboxPaymentsSince',
  `select ${list} from ${joined}
   where payment.workspace_id = $workspaceId and payment.connection_id = $connectionId
     and (payment.created_at, payment.id) > ($afterTime, $afterId)
   order by payment.created_at, payment.id limit $limit`,
  {
    params: { workspaceId: uuid, connectionId: uuid, afterTime: instant, afterId: text, limit: bigint },
    columns: paymentColumns,
  },
)
