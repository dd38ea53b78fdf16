import { type DecryptedConnection, loadDecryptedConnection } from '#shared/features/messages/connections/connections.ts'
import type { Egress } from '#shared/platform/egress/egress.ts'
import { canonicalHost, endpointKey } from '#shared/platform/egress/endpoint.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { parseSender } from '#shared/platform/mail/sender.ts'
import type { FindConnectionTransport, MailServer, ServerTransport } from '#workers/platform/mail/transports.ts'

/** Finds the transport of a workspace's connection; undefined when it was deleted. */
export const findConnectionTransport: FindConnectionTransport = async ({ config, egress, db }, workspaceId, connectionId) => {
  const connection = await loadDecryptedConnection(db, config, workspaceId, connectionId)
  return connection && connectionTransport({ config, egress }, connection)
}

/**
 * The transport of a workspace's connection. It signs mails with the connection's DKIM key, or not at all: the workspace chooses the From
 * address, so the operator's key must not sign.
 */
export const connectionTransport = (ways: WaysOut, connection: DecryptedConnection): ServerTransport => ({
  kind: 'server',
  from: parseSender(connection.from),
  dkim: connection.dkim,
  server: buildServer(ways, connection),
})

interface WaysOut {
  readonly config: Pick<Config, 'egressAllow'>
  readonly egress: Pick<Egress, 'restricted'>
}

/**
 * Passwords require TLS, except at an endpoint that the operator allows: it is on a private network, where servers often lack TLS. The
 * certificate of an allowed server on this machine is not checked, since it cannot be valid.
 */
function buildServer({ config, egress }: WaysOut, { host, port, secure, username, password }: DecryptedConnection): MailServer {
  const canonicalName = canonicalHost(host)
  const isAllowed = config.egressAllow.includes(endpointKey({ host: canonicalName, port }))
  const isLocal = isAllowed && (canonicalName === 'localhost' || canonicalName === '::1' || canonicalName.startsWith('127.'))
  return {
    dialer: egress.restricted,
    host: canonicalName,
    port,
    secure,
    requireTLS: username !== '' && !isAllowed,
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : {}),
    ...(username === '' ? {} : { auth: { user: username, pass: password } }),
  }
}
