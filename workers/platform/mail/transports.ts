import { parseConnectionUrl } from 'nodemailer/lib/shared'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { type DecryptedConnection, loadDecryptedConnection } from '#shared/features/messages/connections/connections.ts'
import { type Dialer, operatorDialer, restrictedDialer } from '#shared/platform/egress/dialer.ts'
import { canonicalHost, endpointKey } from '#shared/platform/egress/endpoint.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { type Sender as From, parseSender } from '#shared/platform/mail/sender.ts'
import type { OutboxMail } from '#shared/platform/mail/store.ts'

/** A mail server and its connection settings. */
export interface MailServer {
  readonly dialer: Dialer
  readonly host: string
  readonly port: number
  /** Whether to use TLS from the first byte; otherwise STARTTLS is used where offered. */
  readonly secure: boolean
  /** Whether TLS is required. */
  readonly requireTLS?: boolean
  readonly tls?: { readonly rejectUnauthorized?: boolean }
  readonly auth?: { readonly user: string; readonly pass: string }
}

interface SignedTransport {
  /** Sender of the mails; text when the operator configured it. */
  readonly from: string | From
  readonly dkim: Config['dkim']
}

type ServerTransport = SignedTransport & { readonly kind: 'server'; readonly server: MailServer }

/** A transport for mail: the folder below DATA_DIR, or a server. */
export type MailTransport = (SignedTransport & { readonly kind: 'folder' }) | ServerTransport

/** Finds the transport of a mail; undefined when its connection was deleted. */
export async function findTransport(scope: PlatformScope, mail: OutboxMail): Promise<MailTransport | undefined> {
  const { config, db } = scope
  if (mail.connection_id === null || mail.workspace_id === null) return operatorTransport(config)
  const connection = await loadDecryptedConnection(db, config, mail.workspace_id, mail.connection_id)
  return connection && connectionTransport(config, connection)
}

function operatorTransport({ smtpUrl, mailFrom: from, dkim }: Config): MailTransport {
  if (smtpUrl === null) return { kind: 'folder', from, dkim }
  const { host, port, secure = false, ...options } = parseConnectionUrl(smtpUrl) as Partial<MailServer>
  const server = { ...options, dialer: operatorDialer(), host: host ?? 'localhost', port: port ?? (secure ? 465 : 587), secure }
  return { kind: 'server', from, dkim, server }
}

/**
 * The transport of a workspace's connection. It signs with the connection's key or not at all: the workspace chooses From, so the
 * operator's key must not sign.
 */
export const connectionTransport = (config: Config, connection: DecryptedConnection): ServerTransport => ({
  kind: 'server',
  from: parseSender(connection.from),
  dkim: connection.dkim,
  server: buildServer(config, connection),
})

/**
 * Passwords require TLS on the internet. An endpoint that the operator allows is on a private network, where servers often lack TLS; a
 * server on this machine cannot have a valid certificate.
 */
function buildServer(config: Config, { host, port, secure, username, password }: DecryptedConnection): MailServer {
  const canonicalName = canonicalHost(host)
  const isAllowed = config.egressAllow.includes(endpointKey({ host: canonicalName, port }))
  const isLocal = isAllowed && (canonicalName === 'localhost' || canonicalName === '::1' || canonicalName.startsWith('127.'))
  return {
    dialer: restrictedDialer(config),
    host: canonicalName,
    port,
    secure,
    requireTLS: username !== '' && !isAllowed,
    ...(isLocal ? { tls: { rejectUnauthorized: false } } : {}),
    ...(username === '' ? {} : { auth: { user: username, pass: password } }),
  }
}
