import { randomBytes } from 'node:crypto'
import type { Scope } from '#shared/core/scope/scope.ts'
import { platformOrigin } from '#shared/features/payments/connections/connections.ts'
import { findConnection, openConnection } from '#shared/features/payments/connections/open.ts'
import { deliverSandboxEventJob } from '#shared/features/payments/jobs.ts'
import { buildEvent, eventIdOfPayment, signedHeaders } from '#shared/features/payments/providers/sandbox.ts'
import {
  findSandboxLink,
  findSandboxPayment,
  insertSandboxPayment,
  lockPayableSandboxLink,
  type SandboxLink,
  type SandboxPayment,
} from '#shared/features/payments/providers/sandbox-store.ts'
import { callHttp } from '#shared/platform/egress/http.ts'
import { requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A link as the sandbox's pay page shows it. */
export interface PayPageLink extends SandboxLink {
  readonly state: 'open' | 'paid' | 'closed'
}

/** Reads the link of a pay page. Throws NOT_FOUND. */
export async function requirePayPageLink({ db, workspace, now }: Scope, linkId: string): Promise<PayPageLink> {
  const link = requireRow(isUuid(linkId) ? await db.query(findSandboxLink({ workspaceId: workspace.id, id: linkId })) : [])
  const isClosed = !link.active || Date.parse(link.expires_at) <= now().getTime()
  return { ...link, state: link.payment_id !== null ? 'paid' : isClosed ? 'closed' : 'open' }
}

/** A payer's action on the pay page. */
interface PayerAction {
  readonly outcome: SandboxPayment['outcome']
  readonly name: string
  readonly email: string
}

/**
 * Stores a payer's action together with the job that calls the webhook; a paid or closed link stays unchanged. Returns the link afterwards.
 * Throws NOT_FOUND.
 */
export async function payOrDecline(scope: Scope, linkId: string, { outcome, name, email }: PayerAction): Promise<PayPageLink> {
  await requirePayPageLink(scope, linkId)
  const { db, workspace, now, jobQueue } = scope
  await db.transaction(async (tx) => {
    const [link] = await tx.query(lockPayableSandboxLink({ workspaceId: workspace.id, id: linkId, now: now() }))
    if (!link) return
    const id = `sbx_${randomBytes(12).toString('hex')}`
    const inserted = await tx.query(
      insertSandboxPayment({
        workspaceId: workspace.id,
        id,
        connectionId: link.connection_id,
        linkId,
        outcome,
        payerName: name,
        payerEmail: email,
        createdAt: now(),
      }),
    )
    if (inserted.length === 0) return
    await jobQueue.enqueue(tx, deliverSandboxEventJob, platformOrigin(scope), { paymentId: id })
  })
  return requirePayPageLink(scope, linkId)
}

/** Timeout of the webhook call in milliseconds. */
const timeoutMs = 15_000

/**
 * Calls the connection's webhook with a signed event about a payment, as any provider does. Throws when it was refused, so the job is
 * retried.
 */
export async function sendPaymentWebhook(scope: Scope, paymentId: string): Promise<void> {
  const [payment] = await scope.db.query(findSandboxPayment({ workspaceId: scope.workspace.id, id: paymentId }))
  const connection = payment && (await findConnection(scope, payment.connection_id))
  if (!payment || !connection || connection.deleted_at !== null) return
  const { account } = openConnection(scope, connection)
  const body = buildEvent(payment)
  const answer = await callHttp(scope.egress.operators, {
    url: `${scope.config.publicUrl}/webhooks/payments/${connection.id}`,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signedHeaders(account.credentials, eventIdOfPayment(payment), body, scope.now()) },
    body,
    timeoutMs,
    maxBytes: 65_536,
  })
  if (answer.status >= 300) throw new Error(`The webhook answered ${answer.status}`)
}
