import type { Dialer } from '#shared/platform/egress/dialer.ts'
import type { JobScope } from '#shared/platform/jobs/job-scope.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Sender as From } from '#shared/platform/mail/sender.ts'
import { parseConnectionUrl } from '#workers/platform/mail/nodemailer-internals.ts'

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

export type ServerTransport = SignedTransport & { readonly kind: 'server'; readonly server: MailServer }

/** A transport for mail: the folder below DATA_DIR, or a server. */
export type MailTransport = (SignedTransport & { readonly kind: 'folder' }) | ServerTransport

/** Finds the transport of a workspace's connection; undefined when it was deleted. */
export type FindConnectionTransport = (scope: JobScope, workspaceId: string, connectionId: string) => Promise<ServerTransport | undefined>

/** The operator's server, or the folder below DATA_DIR where none is configured. */
export function operatorTransport({ config, egress }: Pick<JobScope, 'config' | 'egress'>): MailTransport {
  const { smtpUrl, mailFrom: from, dkim } = config
  if (smtpUrl === null) return { kind: 'folder', from, dkim }
  const { host, port, secure = false, ...options } = parseConnectionUrl(smtpUrl) as Partial<MailServer>
  const server = { ...options, dialer: egress.operators, host: host ?? 'localhost', port: port ?? (secure ? 465 : 587), secure }
  return { kind: 'server', from, dkim, server }
}
