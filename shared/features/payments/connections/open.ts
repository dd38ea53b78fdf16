import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import { type StoredConnection, sealedCredentials, selectConnection } from '#shared/features/payments/connections/store.ts'
import type { Credentials, Provider, ProviderAccount } from '#shared/features/payments/providers/provider.ts'
import { providers } from '#shared/features/payments/providers/providers.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** Encrypts credentials. Only this installation's secret key decrypts them, and only as those of the same connection. */
export const encryptCredentials = (scope: Scope, connectionId: string, credentials: Credentials): Buffer =>
  sealedCredentials.seal(scope.config, { workspace_id: scope.workspace.id, id: connectionId }, JSON.stringify(credentials))

/** Decrypts the credentials of a connection; empty once they were deleted. */
export function decryptCredentials({ config }: Pick<PlatformScope, 'config'>, connection: StoredConnection): Credentials {
  if (connection.credentials === null) return {}
  return JSON.parse(sealedCredentials.open(config, connection, connection.credentials))
}

/** A connection with its provider and the account to call it with. */
interface OpenedConnection {
  readonly provider: Provider
  readonly account: ProviderAccount
  readonly connection: StoredConnection
}

/** Decrypts a connection's credentials for calls to its provider. */
export function openConnection(
  { config, egress, db, now }: Pick<PlatformScope, 'config' | 'egress' | 'db' | 'now'>,
  connection: StoredConnection,
): OpenedConnection {
  const { workspace_id: workspaceId, id: connectionId, mode } = connection
  const credentials = decryptCredentials({ config }, connection)
  return {
    provider: providers[connection.provider],
    account: { workspaceId, connectionId, mode, credentials, config, egress, db, now },
    connection,
  }
}

/** Reads a connection of the workspace that is not deleted. Throws NOT_FOUND. */
export async function requireConnection(scope: Pick<Scope, 'db' | 'workspace'>, id: string): Promise<StoredConnection> {
  const connection = await findConnection(scope, id)
  if (!connection || connection.deleted_at !== null) throw problem('NOT_FOUND')
  return connection
}

/** Finds a connection of the workspace, including deleted ones. */
export async function findConnection(
  { db, workspace }: Pick<Scope, 'db' | 'workspace'>,
  id: string,
): Promise<StoredConnection | undefined> {
  return isUuid(id) ? (await db.query(selectConnection({ workspaceId: workspace.id, id })))[0] : undefined
}
