import { randomBytes } from 'node:crypto'
import { operatorDoor } from '#shared/egress/door.ts'
import { callHttp } from '#shared/egress/http.ts'
import { problem } from '#shared/kernel/errors.ts'
import { isUuid } from '#shared/kernel/ids.ts'
import { findConnection, openConnection } from '#shared/payments/account.ts'
import { tellSandbox } from '#shared/payments/jobs.ts'
import { eventIdOf, eventOf, signedHeaders } from '#shared/payments/providers/sandbox.ts'
import {
  findSandboxLink,
  findSandboxPayment,
  insertSandboxPayment,
  lockPayableSandboxLink,
  type SandboxLink,
  type SandboxPayment,
} from '#shared/payments/providers/sandbox-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** A link as the sandbox's page shows it. */
export interface PayableLink extends SandboxLink {
  readonly state: 'open' | 'paid' | 'closed'
}

/** The link that a pay page is about; throws NOT_FOUND. */
export async function readPayable({ db, workspace, now }: Scope, linkId: string): Promise<PayableLink> {
  const [link] = isUuid(linkId) ? await db.query<SandboxLink>(findSandboxLink(workspace.id, linkId)) : []
  if (!link) throw problem('NOT_FOUND')
  const isOver = !link.active || Date.parse(link.expires_at) <= now().getTime()
  return { ...link, state: link.payment_id !== null ? 'paid' : isOver ? 'closed' : 'open' }
}

/** What a payer does on the page. */
export interface PayerAct {
  readonly outcome: SandboxPayment['outcome']
  readonly name: string
  readonly email: string
}

/**
 * Writes down what a payer did, with the job that tells of it: a link that is paid or closed stays as it is. Gives the link as it is
 * afterwards; throws NOT_FOUND.
 */
export async function act(scope: Scope, linkId: string, { outcome, name, email }: PayerAct): Promise<PayableLink> {
  await readPayable(scope, linkId)
  const { db, workspace, now, queue, cause } = scope
  await db.transaction(async (tx) => {
    const [link] = await tx.query<{ connection_id: string }>(lockPayableSandboxLink(workspace.id, linkId, now()))
    if (!link) return
    const id = `sbx_${randomBytes(12).toString('hex')}`
    const paid = await tx.query(insertSandboxPayment(workspace.id, link.connection_id, id, linkId, outcome, name, email, now()))
    if (paid.length === 0) return
    const origin = { workspaceId: workspace.id, cause: { ...cause, actorId: null, actorType: 'system' as const } }
    await queue.enqueue(tx, tellSandbox, origin, { paymentId: id })
  })
  return readPayable(scope, linkId)
}

/** How long the webhook may take, in milliseconds. */
const timeoutMs = 15_000

/** Tells of a payment as any provider does: by a signed call of the webhook's address. Throws when it was not taken; it is told again then. */
export async function tellOfPayment(scope: Scope, paymentId: string): Promise<void> {
  const [payment] = await scope.db.query<SandboxPayment & { connection_id: string }>(findSandboxPayment(scope.workspace.id, paymentId))
  const connection = payment && (await findConnection(scope, payment.connection_id))
  if (!payment || !connection || connection.deleted_at !== null) return
  const { account } = openConnection(scope, connection)
  const body = eventOf(payment)
  const answer = await callHttp(operatorDoor(), {
    url: `${scope.config.publicUrl}/webhooks/payments/${connection.id}`,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signedHeaders(account.credentials, eventIdOf(payment), body, scope.now()) },
    body,
    timeoutMs,
    maxBytes: 65_536,
  })
  if (answer.status >= 300) throw new Error(`The webhook answered ${answer.status}`)
}
