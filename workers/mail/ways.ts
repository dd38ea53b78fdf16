import { parseConnectionUrl } from 'nodemailer/lib/shared'
import { type Door, guardedDoor, operatorDoor } from '#shared/egress/door.ts'
import { canonicalHost, endpointKey } from '#shared/egress/host.ts'
import type { Config } from '#shared/kernel/config.ts'
import type { OutboxMail } from '#shared/mail/store.ts'
import { type OpenConnection, openConnection } from '#shared/messages/connections.ts'
import { type Sender as From, parseSender } from '#shared/messages/sender.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'

/** A mail server and how it is spoken to. */
export interface Server {
  readonly door: Door
  readonly host: string
  readonly port: number
  /** Whether TLS comes first; otherwise it is begun where the server offers it. */
  readonly secure: boolean
  /** Whether nothing is sent without TLS. */
  readonly requireTLS?: boolean
  readonly tls?: { readonly rejectUnauthorized?: boolean }
  readonly auth?: { readonly user: string; readonly pass: string }
}

interface Signed {
  /** Whom mails come from; as text, the operator's word. */
  readonly from: string | From
  readonly dkim: Config['dkim']
}

type ServersWay = Signed & { readonly kind: 'server'; readonly server: Server }

/** A way out for mail: the folder below DATA_DIR, or a server. */
export type Way = (Signed & { readonly kind: 'folder' }) | ServersWay

/** The way that a mail goes out by; undefined when its connection is gone. */
export async function wayOf(scope: PlatformScope, mail: OutboxMail): Promise<Way | undefined> {
  const { config, db } = scope
  if (mail.connection_id === null || mail.workspace_id === null) return operatorsWay(config)
  const connection = await openConnection(db, config, mail.workspace_id, mail.connection_id)
  return connection && connectionsWay(config, connection)
}

function operatorsWay({ smtpUrl, mailFrom: from, dkim }: Config): Way {
  if (smtpUrl === null) return { kind: 'folder', from, dkim }
  const { host, port, secure = false, ...options } = parseConnectionUrl(smtpUrl) as Partial<Server>
  const server = { ...options, door: operatorDoor(), host: host ?? 'localhost', port: port ?? (secure ? 465 : 587), secure }
  return { kind: 'server', from, dkim, server }
}

/** Mails of a connection are signed with its own key or not at all: a workspace chooses their From, for which the operator does not vouch. */
export const connectionsWay = (config: Config, connection: OpenConnection): ServersWay => ({
  kind: 'server',
  from: parseSender(connection.from),
  dkim: connection.dkim,
  server: serverOf(config, connection),
})

/**
 * A password goes over the internet under TLS only. An endpoint that the operator has opened is on a network of its own, where servers
 * often have none; and on this machine no certificate can be anybody's.
 */
function serverOf(config: Config, { host, port, secure, username, password }: OpenConnection): Server {
  const named = canonicalHost(host)
  const isOpened = config.egressAllow.includes(endpointKey({ host: named, port }))
  const isHere = isOpened && (named === 'localhost' || named === '::1' || named.startsWith('127.'))
  return {
    door: guardedDoor(config),
    host: named,
    port,
    secure,
    requireTLS: username !== '' && !isOpened,
    ...(isHere ? { tls: { rejectUnauthorized: false } } : {}),
    ...(username === '' ? {} : { auth: { user: username, pass: password } }),
  }
}
