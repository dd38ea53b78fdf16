import { openConnection, recordCheck } from '#shared/features/messages/connections/connections.ts'
import { testConnection } from '#shared/features/messages/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { outcomeOf } from '#shared/platform/mail/delivery-outcome.ts'
import { handler } from '#workers/platform/jobs/handler.ts'
import { tryServer } from '#workers/platform/mail/smtp.ts'
import { connectionsWay } from '#workers/platform/mail/transports.ts'

/** How long a server may take, in milliseconds, since somebody waits. */
const timeoutMs = 30_000

export default handler(testConnection, async ({ payload, scope, signal }) => {
  const { config, db, workspace } = scope
  const connection = await openConnection(db, config, workspace.id, payload.connectionId)
  if (!connection) throw problem('NOT_FOUND')
  const { server } = connectionsWay(config, connection)
  const error = await tryServer({ server, name: new URL(config.publicUrl).hostname, timeoutMs, signal }).then(
    () => null,
    (failure: unknown) => wordsOf(failure),
  )
  signal.throwIfAborted()
  return { result: await recordCheck(scope, connection, error) }
})

function wordsOf(failure: unknown): string {
  const outcome = outcomeOf(failure, false)
  return outcome.kind === 'sent' ? '' : outcome.error
}
