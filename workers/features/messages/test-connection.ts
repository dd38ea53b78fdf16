import { loadDecryptedConnection, saveConnectionCheck } from '#shared/features/messages/connections/connections.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { classifyFailure } from '#shared/platform/mail/delivery-outcome.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import { connectionTransport } from '#workers/features/messages/connection-transport.ts'
import { testServer } from '#workers/platform/mail/smtp.ts'

/** Maximum duration of a test; short, since a caller waits for the result. */
const timeoutMs = 30_000

export default defineHandler(testMessageConnectionJob, async ({ payload, scope, signal }) => {
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
})

function describeFailure(failure: unknown): string {
  const outcome = classifyFailure(failure, false, false)
  return outcome.kind === 'sent' ? '' : outcome.error
}
