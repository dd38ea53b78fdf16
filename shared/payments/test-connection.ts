import { Problem, problem } from '#shared/kernel/errors.ts'
import { openConnection, requireConnection } from '#shared/payments/account.ts'
import type { ConnectionView } from '#shared/payments/connection.ts'
import { viewConnection } from '#shared/payments/connections.ts'
import { NoAnswer } from '#shared/payments/providers/call.ts'
import { noteCheck, type StoredConnection } from '#shared/payments/store/connections-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Asks the provider whether it takes the credentials and notes what it says, a provider that does not answer too. Throws NOT_FOUND. */
export async function checkConnection(scope: Scope, id: string): Promise<ConnectionView> {
  const connection = await requireConnection(scope, id)
  const { provider, account } = openConnection(scope, connection)
  const refusal = await provider.check(account).then(() => null, wordsOf)
  const values = [refusal === null ? 'ok' : 'failed', scope.now(), refusal, connection.credentials]
  const [noted] = await scope.db.query<StoredConnection>(noteCheck(scope.workspace.id, id, ...values))
  // The credentials were changed while the old ones were tested, or the connection was deleted.
  if (!noted) return viewConnection(scope, await requireConnection(scope, id))
  if (noted.deleted_at !== null) throw problem('NOT_FOUND')
  return viewConnection(scope, noted)
}

function wordsOf(error: unknown): string {
  if (error instanceof NoAnswer || (error instanceof Problem && error.status < 500)) return error.message
  throw error
}
