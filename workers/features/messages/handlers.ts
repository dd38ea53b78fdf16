import { loadDecryptedConnection, saveConnectionCheck } from '#shared/features/messages/connections/connections.ts'
import type { feature } from '#shared/features/messages/feature.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { classifyFailure } from '#shared/platform/mail/delivery-outcome.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { connectionTransport } from '#workers/features/messages/connection-transport.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'
import { testServer } from '#workers/platform/mail/smtp.ts'

/** Maximum duration of a test; short, since a caller waits for the result. */
const timeoutMs = 30_000

export const handlers = {
  testConnection: defineHandler(testMessageConnectionJob, async ({ payload, scope, signal }) => {
    const { config, db, workspace } = scope
    const connection = await loadDecryptedConnection(db, config, workspace.id, payload.connectionId)
    if (!connection) throw problem('NOT_FOUND')
    const { server } = connectionTransport(scope, connection)
    const error = await testServer({ server, name: new URL(config.publicUrl).hostname, timeoutMs, signal }).then(
      () => null,
      (failure: unknown) => describeFailure(failure),
    )
    signal.throwIfAborted()
    return { result: await saveConnectionCheck(scope, connection, error) }
  }),
} satisfies HandlersOf<typeof feature.jobs>

function describeFailure(failure: unknown): string {
  const outcome = classifyFailure(failure, false, false)
  return outcome.kind === 'sent' ? '' : outcome.error
}
