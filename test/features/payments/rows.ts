import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Db } from '#test/support/rows.ts'

/** Inserts a payment of the sandbox for which no webhook was sent. */
export async function addSandboxPayment(db: Db, workspaceId: string, connectionId: string, linkId: string, id: string): Promise<void> {
  await db.query(
    `insert into sandbox_payments (workspace_id, connection_id, id, link_id, outcome, payer_name, payer_email, created_at)
     values ($1, $2, $3, $4, 'paid', '', 'no address', now())`,
    [workspaceId, connectionId, id, linkId],
  )
}

/** Inserts a link of 100 USD that Stripe knows as `providerLinkId`. */
export async function addStripeLink(db: Db, workspaceId: string, connectionId: string, id: string, providerLinkId: string): Promise<void> {
  await db.query(
    `insert into payment_links (workspace_id, id, connection_id, provider, provider_link_id, amount, currency, description, customer_name,
       customer_email, customer_contact, expires_at, created_at, deduplication_key)
     values ($1, $2, $3, 'stripe', $4, 100, 'USD', '', '', '', '', now() + interval '1 day', now(), $4)`,
    [workspaceId, id, connectionId, providerLinkId],
  )
}

/** Inserts 10,000 invoices in five currencies, due around this date, and a payment for each third or so of them. */
export async function addInvoicesAndPayments(db: Db, workspaceId: string, date: string): Promise<void> {
  const { schema, invoice, payment } = await tablesOf(db, workspaceId)
  await db.query(
    `insert into ${schema}.invoices (id, created_at, updated_at, ${invoice.number}, ${invoice.customer_name}, ${invoice.customer_email},
       ${invoice.due_date}, ${invoice.status}, ${invoice.total}, ${invoice.total}_code)
     select uuidv7(), now(), now(), 'N' || n, 'Customer ' || n % 37, 'c' || n % 37 || '@example.com', $1::date - (n * 7 % 200 - 50),
       (array['open', 'open', 'open', 'paid', 'draft'])[1 + n % 5], (n * 7919 % 1000000)::numeric / 100 + 1,
       (array['USD', 'EUR', 'JPY', 'KWD', 'INR'])[1 + n / 3 % 5]
     from generate_series(1, 10000) as n`,
    [date],
  )
  await db.query(
    `insert into ${schema}.payments (id, created_at, updated_at, ${payment.invoice_id}, ${payment.amount}, ${payment.amount}_code)
     select uuidv7(), now(), now(), id, (${invoice.total} * (1 + right(${invoice.number}, 1)::integer % 3) / 2)::numeric(20, 2),
       ${invoice.total}_code
     from ${schema}.invoices where right(${invoice.number}, 1) in ('1', '4', '7')`,
  )
}

/** Makes an Idempotency-Key 25 hours older. */
export async function ageIdempotencyKey(db: Db, key: string): Promise<void> {
  await db.query(`update idempotency_records set created_at = created_at - interval '25 hours' where key = $1`, [key])
}

/** Makes a link so many minutes older. */
export async function ageLink(db: Db, linkId: string, minutes: number): Promise<void> {
  await db.query(`update payment_links set created_at = created_at - $2 * interval '1 minute' where id = $1`, [linkId, minutes])
}

/** The number of sandbox payments of a workspace that were paid. */
export async function countSandboxPayments(db: Db, workspaceId: string): Promise<number> {
  const { rowCount } = await db.query(`select from sandbox_payments where workspace_id = $1 and outcome = 'paid'`, [workspaceId])
  return rowCount ?? 0
}

/** Lets links expire a second ago: one, or all of a workspace. */
export async function expireLinks(db: Db, of: { readonly id: string } | { readonly workspaceId: string }): Promise<void> {
  const [column, value] = 'id' in of ? ['id', of.id] : ['workspace_id', of.workspaceId]
  await db.query(`update payment_links set expires_at = now() - interval '1 second' where ${column} = $1`, [value])
}

/** Lets a link of the sandbox expire there now. */
export async function expireSandboxLink(db: Db, id: string): Promise<void> {
  await db.query('update sandbox_links set expires_at = now() where id = $1', [id])
}

/** Makes the expiry of a link due now. */
export async function letExpiryDue(db: Db, linkId: string): Promise<void> {
  await db.query(`update due_work set at = now() where kind = 'payments.expiry' and subject = $1`, [linkId])
}

/** Turns a built-in field into one of the workspace's own. */
export async function makeFieldCustom(db: Db, workspaceId: string, fieldKey: string): Promise<void> {
  await db.query('update fields set system = false where workspace_id = $1 and key = $2', [workspaceId, fieldKey])
}

/** The stored credentials of a connection; null once it is deleted. */
export async function readCredentials(db: Db, connectionId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ credentials: Buffer | null }>('select credentials from payment_connections where id = $1', [
    connectionId,
  ])
  if (!rows[0]) throw new Error('There is no such connection')
  return rows[0].credentials
}

/** The outcome of a link: its status, its payments records and its refunds. */
export interface LinkOutcome {
  readonly status: string
  readonly records: number
  readonly refunded: number
}

/** The outcome of each link of a workspace. */
export async function readLinkOutcomes(db: Db, workspaceId: string): Promise<LinkOutcome[]> {
  const { rows } = await db.query<LinkOutcome>(
    `select link.status, count(payment.payment_record_id)::integer as records, max(payment.refunded)::float as refunded
     from payment_links as link
     left join provider_payments as payment on payment.workspace_id = link.workspace_id and payment.link_id = link.id
     where link.workspace_id = $1 group by link.id, link.status`,
    [workspaceId],
  )
  return rows
}

/** The status of each link of a workspace by its id. */
export async function readLinkStatuses(db: Db, workspaceId: string): Promise<Record<string, string>> {
  const { rows } = await db.query<{ id: string; status: string }>('select id, status from payment_links where workspace_id = $1', [
    workspaceId,
  ])
  return Object.fromEntries(rows.map(({ id, status }) => [id, status]))
}

/** An open invoice and what was paid for it. */
export interface OpenInvoice {
  readonly due: string
  readonly total: string
  readonly code: string
  readonly name: string
  readonly paid: string
}

/** The open invoices that are due until a date. */
export async function readOpenInvoices(db: Db, workspaceId: string, date: string): Promise<OpenInvoice[]> {
  const { schema, invoice, payment } = await tablesOf(db, workspaceId)
  const { rows } = await db.query<OpenInvoice>(
    `select ${invoice.due_date}::text as due, ${invoice.total} as total, ${invoice.total}_code as code, ${invoice.customer_name} as name,
       coalesce((select sum(${payment.amount}) from ${schema}.payments where ${payment.invoice_id} = invoice.id), 0) as paid
     from ${schema}.invoices as invoice where ${invoice.status} = 'open' and ${invoice.due_date} <= $1`,
    [date],
  )
  return rows
}

/** The payments of the sandbox, with their times. */
export async function readSandboxPayments(db: Db, workspaceId: string): Promise<{ id: string; created_at: Date }[]> {
  const { rows } = await db.query<{ id: string; created_at: Date }>('select id, created_at from sandbox_payments where workspace_id = $1', [
    workspaceId,
  ])
  return rows
}

/** The rows of every table of the database as text. */
export async function readWholeDatabase(db: Db): Promise<string> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const stored: string[] = []
  for (const { name } of tables) {
    const { rows } = await db.query<{ text: string }>(`select coalesce(string_agg(one::text, ' '), '') as text from ${name} as one`)
    stored.push(rows[0]?.text ?? '')
  }
  return stored.join('\n')
}

/** Refuses the events of a connection that come by webhook. Returns a function that accepts them again. */
export async function refuseWebhookEvents(db: Db, connectionId: string): Promise<() => Promise<unknown>> {
  await db.query(`alter table payment_events add constraint lost check (connection_id <> '${connectionId}' or source = 'sweep') not valid`)
  return () => db.query('alter table payment_events drop constraint lost')
}

/** Takes the creator from a payments record, as of one that Kontor made itself. */
export async function removeCreator(db: Db, workspaceId: string, recordId: string): Promise<void> {
  await db.query(`update ${schemaOf(workspaceId)}.payments set created_by = null where id = $1`, [recordId])
}

/** Sets the creation of a link. */
export async function setLinkCreation(db: Db, linkId: string, time: string): Promise<void> {
  await db.query('update payment_links set created_at = $2 where id = $1', [linkId, time])
}

async function tablesOf(db: Db, workspaceId: string) {
  const columnsOf = async (type: string): Promise<Readonly<Record<string, string>>> => {
    const { rows } = await db.query<{ key: string; column_name: string }>(
      `select field.key, field.column_name from fields as field
       join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
       where field.workspace_id = $1 and type.key = $2`,
      [workspaceId, type],
    )
    return Object.fromEntries(rows.map(({ key, column_name }) => [key, column_name]))
  }
  return { schema: schemaOf(workspaceId), invoice: await columnsOf('invoices'), payment: await columnsOf('payments') }
}
