import { randomBytes } from 'node:crypto'
import type { Link } from '#shared/features/payments/links/store.ts'
import { requireCredential } from '#shared/features/payments/providers/call.ts'
import { type LinkFacts, noFacts, unknownPayment } from '#shared/features/payments/providers/facts.ts'
import type {
  Credentials,
  ListedProviderEvent,
  Provider,
  ProviderAccount,
  ProviderLink,
} from '#shared/features/payments/providers/provider.ts'
import { decodeJson, readNonEmptyString, readObject, readString } from '#shared/features/payments/providers/reading.ts'
import {
  closeSandboxLink,
  findSandboxLink,
  findSandboxPayments,
  findSandboxPaymentsSince,
  insertSandboxLink,
  type SandboxPayment,
} from '#shared/features/payments/providers/sandbox-store.ts'
import { computeHmac, isWithinTolerance, matchesAnySignature } from '#shared/platform/kernel/crypto/webhook-signature.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { currencyDigits } from '#shared/platform/kernel/values/currency.ts'

/** Payments per page of a sweep. */
const pageSize = 100

const providerIdPrefix = 'sandbox_'

/** Path of the pay page on this server. */
const payPath = (workspaceId: string, linkId: string): string => `/pay/${workspaceId}/${linkId}`

const toProviderLink = (account: ProviderAccount, linkId: string): ProviderLink => ({
  providerLinkId: `${providerIdPrefix}${linkId}`,
  shortUrl: `${account.config.publicUrl}${payPath(account.workspaceId, linkId)}`,
})

async function createLink(account: ProviderAccount, link: Link): Promise<ProviderLink> {
  const { workspaceId, connectionId, now } = account
  const { id, amount, currency, description } = link
  await account.db.query(
    insertSandboxLink({
      workspaceId,
      connectionId,
      id,
      amount,
      currency,
      description,
      customerName: link.customer_name,
      customerEmail: link.customer_email,
      redirectUrl: link.redirect_url,
      expiresAt: link.expires_at,
      createdAt: now(),
    }),
  )
  return toProviderLink(account, id)
}

async function findLink(account: ProviderAccount, { id }: Link): Promise<ProviderLink | undefined> {
  const [found] = await account.db.query(findSandboxLink({ workspaceId: account.workspaceId, id }))
  return found === undefined ? undefined : toProviderLink(account, id)
}

async function pollLink(account: ProviderAccount, { id }: Link): Promise<LinkFacts> {
  const payments = await account.db.query(findSandboxPayments({ workspaceId: account.workspaceId, linkId: id }))
  return { ...noFacts, linkId: id, providerLinkId: `${providerIdPrefix}${id}`, payments: payments.map(toPaymentFact) }
}

async function endLink(account: ProviderAccount, { id }: Link): Promise<void> {
  await account.db.query(closeSandboxLink({ workspaceId: account.workspaceId, id }))
}

async function* listEventsSince({ db, workspaceId, connectionId }: ProviderAccount, from: Date): AsyncGenerator<ListedProviderEvent[]> {
  let after = { created_at: from.toISOString(), id: '' }
  for (;;) {
    const page = await db.query(
      findSandboxPaymentsSince({ workspaceId, connectionId, afterTime: after.created_at, afterId: after.id, limit: pageSize }),
    )
    yield page.map((payment) => {
      const bytes = Buffer.from(buildEvent(payment))
      return { eventId: eventIdOfPayment(payment), facts: readEvent(bytes), bytes }
    })
    const last = page.at(-1)
    if (page.length < pageSize || !last) return
    after = last
  }
}

/** Builds the body of a payment's event; repeated calls build the same bytes. */
export function buildEvent(payment: SandboxPayment): string {
  const { id, link_id, amount, currency, outcome, payer_name, payer_email, created_at } = payment
  const body = { id, link_id, status: outcome, amount, currency, payer: { name: payer_name, email: payer_email }, created_at }
  return JSON.stringify({ id: eventIdOfPayment(payment), type: `payment.${outcome}`, payment: body })
}

/** The id of a payment's event. */
export const eventIdOfPayment = ({ id }: Pick<SandboxPayment, 'id'>): string => `evt_${id}`

function readEvent(bytes: Buffer): LinkFacts {
  const payment = readObject(readObject(decodeJson(bytes)).payment)
  const [id, linkId] = [readString(payment.id), readString(payment.link_id)]
  if (id === '' || !isUuid(linkId)) return noFacts
  const payer = readObject(payment.payer)
  const fact = {
    ...unknownPayment(id),
    state: payment.status === 'paid' ? ('paid' as const) : ('failed' as const),
    amount: readNonEmptyString(payment.amount),
    currency: readNonEmptyString(payment.currency),
    paidAt: parseInstant(readString(payment.created_at)),
    payerName: readString(payer.name),
    payerEmail: readString(payer.email),
  }
  return { ...noFacts, linkId, providerLinkId: `${providerIdPrefix}${linkId}`, payments: [fact] }
}

const parseInstant = (text: string): Date | null => (Number.isNaN(Date.parse(text)) ? null : new Date(text))

const toPaymentFact = (payment: SandboxPayment) => ({
  ...unknownPayment(payment.id),
  state: payment.outcome === 'paid' ? ('paid' as const) : ('failed' as const),
  amount: payment.amount,
  currency: payment.currency,
  paidAt: new Date(payment.created_at),
  payerName: payment.payer_name,
  payerEmail: payment.payer_email,
})

/** Headers of a delivery as Standard Webhooks specifies: id, time and signature. */
export function signedHeaders({ webhook_secret = '' }: Credentials, eventId: string, body: string, now: Date): Record<string, string> {
  const time = String(Math.floor(now.getTime() / 1_000))
  const signature = computeHmac(decodeSecret(webhook_secret), `${eventId}.${time}.`, body).toString('base64')
  return { 'webhook-id': eventId, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` }
}

const decodeSecret = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

const verifyDelivery: Provider['verifyDelivery'] = ({ credentials, now }, { bytes, header }) => {
  const [eventId, time] = [header('webhook-id'), header('webhook-timestamp')]
  const signatures = header('webhook-signature')
    .split(' ')
    .flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []))
  const expected = computeHmac(decodeSecret(requireCredential(credentials, 'webhook_secret')), `${eventId}.${time}.`, bytes)
  if (!matchesAnySignature(expected, signatures, 'base64') || !isWithinTolerance(time, now())) return undefined
  return { eventId: readNonEmptyString(eventId), facts: readEvent(bytes) }
}

/** The built-in provider. It moves no money; everything else works as with the other providers. */
export const sandbox: Provider = {
  name: 'sandbox',
  credentialNames: [],
  ownCredentials: () => ({ webhook_secret: `whsec_${randomBytes(32).toString('base64')}` }),
  units: { provider: 'The sandbox', ruleOf: (currency) => ({ digits: currencyDigits(currency), step: 1 }) },
  createLink,
  findLink,
  pollLink,
  endLink,
  overlapMs: 60_000,
  checkCredentials: async ({ mode }) => {
    if (mode !== 'test') throw problem('VALIDATION_ERROR', 'mode must be test for the sandbox')
  },
  listEventsSince,
  signsEventId: true,
  verifyDelivery,
  readEvent,
}
