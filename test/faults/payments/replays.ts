import { setTimeout as delay } from 'node:timers/promises'
import { decryptCredentials } from '#shared/features/payments/connections/open.ts'
import { selectConnection } from '#shared/features/payments/connections/store.ts'
import { buildEvent, eventIdOfPayment, signedHeaders } from '#shared/features/payments/providers/sandbox.ts'
import { findSandboxPaymentsSince, type SandboxPayment } from '#shared/features/payments/providers/sandbox-store.ts'
import { Database } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Site } from '#test/faults/site.ts'
import { Client } from '#test/support/client.ts'

/** The number of payments whose events are sent again at once. */
const atOnce = 10

/** Repeats the events of the sandbox's payments at both APIs until the end. Returns the number of accepted ones. */
export async function replayUntil(isOver: () => boolean, { config, org, apis }: Site, connectionId: string): Promise<number> {
  const database = new Database(config.databaseUrl, { connections: 1, name: 'faults', statementTimeoutMs: 5_000 })
  try {
    const [connection] = await database.query(selectConnection({ workspaceId: org.id, id: connectionId }))
    if (!connection) throw new Error('There is no such connection')
    const credentials = decryptCredentials({ config: config as Config }, connection)
    let taken = 0
    while (!isOver()) {
      const known = findSandboxPaymentsSince({ workspaceId: org.id, connectionId, afterTime: new Date(0), afterId: '', limit: 1_000 })
      const payments: SandboxPayment[] = await database.query(known).catch(() => [])
      const chosen = Array.from({ length: Math.min(atOnce, payments.length) }, () => payments[Math.floor(Math.random() * payments.length)])
      const sent = chosen.flatMap((payment) => (payment ? apis.map(({ root }) => deliver(root, payment)) : []))
      taken += (await Promise.all(sent)).filter((status) => status === 200).length
      await delay(50)
    }
    return taken

    async function deliver(root: string, payment: SandboxPayment): Promise<number> {
      const body = buildEvent(payment)
      const headers = { 'content-type': 'application/json', ...signedHeaders(credentials, eventIdOfPayment(payment), body, new Date()) }
      const answer = new Client(root, null).withoutRetries().send('POST', `/webhooks/payments/${connectionId}`, body, headers)
      return answer.then(
        ({ status }) => status,
        () => 0,
      )
    }
  } finally {
    await database.close()
  }
}
