import { getRecord } from '#shared/core/records/read.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { emailKind } from '#shared/core/types/field-kinds/address.ts'
import { parseAmount } from '#shared/core/types/field-kinds/number.ts'
import { findConnection } from '#shared/features/payments/connections/open.ts'
import type { LinkRequest } from '#shared/features/payments/links/schemas.ts'
import { providers } from '#shared/features/payments/providers/providers.ts'
import { toProviderUnits } from '#shared/features/payments/providers/units.ts'
import { requireRedirectUrl } from '#shared/features/payments/redirect-url.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'
import { isCurrencyCode } from '#shared/platform/kernel/values/currency.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** Default and maximum lifetime of a link in milliseconds (docs/contract/payments.md#creating-a-link). */
const defaultLifetimeMs = 30 * dayMs
const maxLifetimeMs = 180 * dayMs

/** A new link's values, validated as far as possible without calling the provider. */
interface NewLink {
  readonly connectionId: string
  readonly provider: string
  readonly amount: string
  readonly currency: string
  readonly description: string
  readonly invoiceId: string | null
  readonly redirectUrl: string | null
  readonly customerName: string
  readonly customerEmail: string
  readonly customerContact: string
  readonly expiresAt: Date
}

/**
 * Validates a request for a link and fills in defaults. Throws VALIDATION_ERROR naming the field, also for an invoice that the caller may
 * not read, and NOT_FOUND for an unknown connection.
 */
export async function checkLinkRequest(scope: Scope, request: LinkRequest): Promise<NewLink> {
  if (!isUuid(request.connection_id)) throw problem('VALIDATION_ERROR', 'connection_id must be the id of a connection')
  const redirectUrl = requireRedirectUrl(request.redirect_url)
  const customerEmail = parseEmail(request.customer_email ?? '')
  const connection = await findConnection(scope, request.connection_id)
  if (!connection || connection.deleted_at !== null) throw problem('NOT_FOUND', 'connection_id names no connection')
  const { amount, currency, invoiceId } = await readMoney(scope, request)
  const provider = providers[connection.provider]
  toProviderUnits(provider.units, amount, currency)
  const expiresAt = parseExpiry(request.expires_at ?? null, scope.now())
  provider.checkExpiry?.(expiresAt, scope.now())
  return {
    connectionId: connection.id,
    provider: connection.provider,
    amount,
    currency,
    description: request.description ?? '',
    invoiceId,
    redirectUrl: redirectUrl ?? connection.redirect_url,
    customerName: request.customer_name ?? '',
    customerEmail,
    customerContact: request.customer_contact ?? '',
    expiresAt,
  }
}

function parseEmail(text: string): string {
  if (text !== '') emailKind.parse(text, { type: 'email', rules: {} }, { path: 'customer_email', defaultCurrency: '' })
  return text
}

async function readMoney(scope: Scope, request: LinkRequest): Promise<Pick<NewLink, 'amount' | 'currency' | 'invoiceId'>> {
  const requestedCurrency = request.currency || null
  if (requestedCurrency !== null && !isCurrencyCode(requestedCurrency))
    throw problem('VALIDATION_ERROR', 'currency must be an ISO 4217 currency code such as EUR')
  const invoiceId = request.invoice_id || null
  const total = invoiceId === null ? undefined : await readInvoiceTotal(scope, invoiceId)
  if (request.amount === null && requestedCurrency !== null && total !== undefined && requestedCurrency !== total.code) {
    throw problem('VALIDATION_ERROR', `currency must be ${total.code}, as that of the invoice, unless amount is sent too`)
  }
  const amount = request.amount ?? total?.amount
  if (amount === undefined) {
    throw problem(
      'VALIDATION_ERROR',
      invoiceId === null ? 'amount is required without invoice_id' : 'amount is required: the invoice has no total that you may read',
    )
  }
  if (!/[1-9]/.test(amount) || amount.startsWith('-')) throw problem('VALIDATION_ERROR', `amount must be above zero, got ${amount}`)
  return { amount, currency: requestedCurrency ?? total?.code ?? scope.workspace.default_currency, invoiceId }
}

/** The total of an invoice; undefined when it is empty or hidden from the caller. */
async function readInvoiceTotal(scope: Scope, invoiceId: string): Promise<{ readonly amount: string; readonly code: string } | undefined> {
  const { values } = await getRecord(scope, 'invoices', invoiceId).catch((error: unknown) => {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    throw problem('VALIDATION_ERROR', 'invoice_id must be the id of an invoice that you may read')
  })
  const { amount, code } = (values.total ?? {}) as { readonly amount?: unknown; readonly code?: unknown }
  const text = jsonNumberText(amount)
  return text === undefined || typeof code !== 'string' ? undefined : { amount: parseAmount(text, 'amount'), code }
}

/** Reads when a link expires, as an instant in UTC. Throws VALIDATION_ERROR for any other text. */
export function readExpiry(text: string): string {
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', 'expires_at must be an instant such as 2027-01-31T12:00:00Z')
  return instant
}

function parseExpiry(text: string | null, now: Date): Date {
  if (text === null || text === '') return new Date(now.getTime() + defaultLifetimeMs)
  const instant = readExpiry(text)
  const remainingMs = Date.parse(instant) - now.getTime()
  if (remainingMs <= 0) throw problem('VALIDATION_ERROR', 'expires_at must be in the future')
  if (remainingMs > maxLifetimeMs) throw problem('VALIDATION_ERROR', 'expires_at must be at most 180 days ahead')
  return new Date(instant)
}
