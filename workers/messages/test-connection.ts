import { problem } from '#shared/kernel/errors.ts'
import { outcomeOf } from '#shared/mail/outcome.ts'
import { openConnection, recordCheck } from '#shared/messages/connections.ts'
import { testConnection } from '#shared/messages/jobs.ts'
import { handler } from '#workers/handler.ts'
import { tryServer } from '#workers/mail/smtp.ts'
import { connectionsWay } from '#workers/mail/ways.ts'

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
