import type { Scope } from '#shared/core/scope/scope.ts'
import { viewConnection } from '#shared/features/payments/connections/connections.ts'
import { openConnection, requireConnection } from '#shared/features/payments/connections/open.ts'
import type { ConnectionView } from '#shared/features/payments/connections/schemas.ts'
import { type StoredConnection, saveCheck } from '#shared/features/payments/connections/store.ts'
import { ProviderUnavailable } from '#shared/features/payments/providers/call.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

/** Tests the credentials at the provider and saves the result; no answer counts as failed. Throws NOT_FOUND. */
export async function checkConnection(scope: Scope, id: string): Promise<ConnectionView> {
  const connection = await requireConnection(scope, id)
  const { provider, account } = openConnection(scope, connection)
  const failure = await provider.checkCredentials(account).then(() => null, failureMessage)
  const values = [failure === null ? 'ok' : 'failed', scope.now(), failure, connection.credentials]
  const [checked] = await scope.db.query<StoredConnection>(saveCheck(scope.workspace.id, id, ...values))
  // The credentials changed during the test, or the connection was deleted.
  if (!checked) return viewConnection(scope, await requireConnection(scope, id))
  if (checked.deleted_at !== null) throw problem('NOT_FOUND')
  return viewConnection(scope, checked)
}

function failureMessage(error: unknown): string {
  if (error instanceof ProviderUnavailable || (error instanceof Problem && error.status < 500)) return error.message
  throw error
}
