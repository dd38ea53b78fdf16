import { Problem, problem } from '#shared/kernel/errors.ts'
import { openConnection, requireConnection } from '#shared/payments/account.ts'
import type { ConnectionView } from '#shared/payments/connection.ts'
import { viewConnection } from '#shared/payments/connections.ts'
import { NoAnswer } from '#shared/payments/providers/call.ts'
import { noteCheck, type StoredConnection } from '#shared/payments/store/connections-store.ts'
import type { Scope } from '#shared/scope/scope.ts'

/** Tests the credentials at the provider and saves the result; no answer counts as failed. Throws NOT_FOUND. */
export async function checkConnection(scope: Scope, id: string): Promise<ConnectionView> {
  const connection = await requireConnection(scope, id)
  const { provider, account } = openConnection(scope, connection)
  const failure = await provider.check(account).then(() => null, failureMessage)
  const values = [failure === null ? 'ok' : 'failed', scope.now(), failure, connection.credentials]
  const [checked] = await scope.db.query<StoredConnection>(noteCheck(scope.workspace.id, id, ...values))
  // The credentials changed during the test, or the connection was deleted.
  if (!checked) return viewConnection(scope, await requireConnection(scope, id))
  if (checked.deleted_at !== null) throw problem('NOT_FOUND')
  return viewConnection(scope, checked)
}

function failureMessage(error: unknown): string {
  if (error instanceof NoAnswer || (error instanceof Problem && error.status < 500)) return error.message
  throw error
}
