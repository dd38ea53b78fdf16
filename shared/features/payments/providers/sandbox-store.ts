import { sql } from '#shared/platform/db/statements/statement.ts'

/** A payer's action on the sandbox's pay page. */
export interface SandboxPayment {
  readonly id: string
  readonly link_id: string
  readonly outcome: 'paid' | 'declined'
  readonly amount: string
  readonly currency: string
  readonly payer_name: string
  readonly payer_email: string
  readonly created_at: string
}

/** A link as the sandbox stores it. */
export interface SandboxLink {
  readonly id: string
  readonly connection_id: string
  readonly amount: string
  readonly currency: string
  readonly description: string
  readonly customer_name: string
  readonly customer_email: string
  readonly redirect_url: string | null
  readonly active: boolean
  readonly expires_at: string
  /** Id and time of the payment that paid the link; null while it is unpaid. */
  readonly payment_id: string | null
  readonly paid_at: string | null
}

/**
 * Stores a link unless it exists. Values: workspace, connection, id, amount, currency, description, customer's name, customer's email,
 * redirect address, expiry, time.
 */
export const insertSandboxLink = sql(
  'insert_sandbox_link',
  `insert into sandbox_links (workspace_id, connection_id, id, amount, currency, description, customer_name, customer_email, redirect_url,
     expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
   on conflict do nothing`,
)

/** One link, with the payment that paid it. Values: workspace, id. */
export const findSandboxLink = sql(
  'find_sandbox_link',
  `select link.id, link.connection_id, link.amount, link.currency, link.description, link.customer_name, link.customer_email,
     link.redirect_url, link.active, link.expires_at, paid.id as payment_id, paid.created_at as paid_at
   from sandbox_links as link
   left join lateral (
     select payment.id, payment.created_at from sandbox_payments as payment
     where payment.workspace_id = link.workspace_id and payment.link_id = link.id and payment.outcome = 'paid'
     order by payment.created_at, payment.id limit 1
   ) as paid on true
   where link.workspace_id = $1 and link.id = $2`,
)

/** Deactivates a link, so it can no longer be paid. Values: workspace, id. */
export const closeSandboxLink = sql('close_sandbox_link', 'update sandbox_links set active = false where workspace_id = $1 and id = $2')

/** Reads an active link that has not expired and locks its row until the transaction ends. Values: workspace, id, time. */
export const lockPayableSandboxLink = sql(
  'lock_sandbox_link',
  `select id, connection_id from sandbox_links where workspace_id = $1 and id = $2 and active and expires_at > $3 for no key update`,
)

/**
 * Stores a payer's action; returns no row when the link is already paid. Values: workspace, connection, id, link, outcome, payer's name,
 * payer's email, time.
 */
export const insertSandboxPayment = sql(
  'insert_sandbox_payment',
  `insert into sandbox_payments (workspace_id, connection_id, id, link_id, outcome, payer_name, payer_email, created_at)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where not exists (select from sandbox_payments where workspace_id = $1 and link_id = $4 and outcome = 'paid')
   on conflict do nothing
   returning id`,
)

const columns = `payment.id, payment.link_id, payment.outcome, link.amount, link.currency, payment.payer_name, payment.payer_email,
  payment.created_at, payment.connection_id`
const joined = `sandbox_payments as payment
   join sandbox_links as link on link.workspace_id = payment.workspace_id and link.id = payment.link_id`

/** All payments of a link. Values: workspace, link. */
export const findSandboxPayments = sql(
  'find_sandbox_payments',
  `select ${columns} from ${joined} where payment.workspace_id = $1 and payment.link_id = $2 order by payment.created_at, payment.id`,
)

/** One payment. Values: workspace, id. */
export const findSandboxPayment = sql(
  'find_sandbox_payment',
  `select ${columns} from ${joined} where payment.workspace_id = $1 and payment.id = $2`,
)

/**
 * A page of a connection's payments in the order of time. Values: workspace, connection, time and id after which the page begins, page
 * size.
 */
export const findSandboxPaymentsSince = sql(
  'find_sandbox_payments_since',
  `select ${columns} from ${joined}
   where payment.workspace_id = $1 and payment.connection_id = $2 and (payment.created_at, payment.id) > ($3, $4)
   order by payment.created_at, payment.id limit $5`,
)
