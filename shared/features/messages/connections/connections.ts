import { randomBytes } from 'node:crypto'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { ConnectionChange, ConnectionInput, ConnectionView, NewConnectionView } from '#shared/features/messages/connections/schemas.ts'
import {
  type ConnectionSettings,
  connectionSecrets,
  deleteConnection,
  findConnection,
  findConnections,
  findWebhook,
  insertConnection,
  lockConnection,
  type StoredConnection,
  updateConnection,
  updateConnectionCheck,
} from '#shared/features/messages/connections/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { canonicalHost } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { parseSigningKey } from '#shared/platform/kernel/crypto/signing-key.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { cutText } from '#shared/platform/kernel/values/text.ts'
import { normalizeSender } from '#shared/platform/mail/sender.ts'

type SecretName = keyof typeof connectionSecrets

/** Encrypts a secret for a connection and the column `name`; it can be decrypted only for these. */
const encryptSecret = (config: Config, id: string, name: SecretName, text: string): Buffer =>
  connectionSecrets[name].seal(config, { id }, text)

/** Decrypts a secret of a connection. */
export const decryptSecret = (config: Config, id: string, name: SecretName, secret: Buffer): string =>
  connectionSecrets[name].open(config, { id }, secret)

/** All connections of the workspace, oldest first. */
export async function listConnections(scope: Scope): Promise<ConnectionView[]> {
  const rows = await scope.db.query(findConnections({ workspaceId: scope.workspace.id }))
  return rows.map((row) => viewOf(scope, row))
}

/** One connection; throws NOT_FOUND. */
export async function getConnection(scope: Scope, id: string): Promise<ConnectionView> {
  return viewOf(scope, await requireConnection(scope, id))
}

/** A connection as its creation returned it, with the webhook secret: a change may send these values back unchanged. Throws NOT_FOUND. */
export async function connectionAtCreation(scope: Scope, id: string): Promise<NewConnectionView> {
  const stored = await requireConnection(scope, id)
  const webhook = requireRow(await scope.db.query(findWebhook({ id: stored.id })))
  return { ...viewOf(scope, stored), webhook_secret: decryptSecret(scope.config, stored.id, 'webhook', webhook.webhook_secret) }
}

/** A stored connection; throws NOT_FOUND. */
export async function requireConnection({ db, workspace }: Scope, id: string): Promise<StoredConnection> {
  return requireRow(isUuid(id) ? await db.query(findConnection({ workspaceId: workspace.id, id })) : [])
}

/** Creates a connection. Throws VALIDATION_ERROR for an invalid host, address or key. */
export async function createConnection(scope: Scope, input: ConnectionInput): Promise<NewConnectionView> {
  const { config, db, workspace } = scope
  const id = newId()
  const secret = randomBytes(32).toString('base64url')
  const defaults = {
    port: 587,
    secure: input.port === 465,
    username: '',
    password: null,
    dkim_domain: null,
    dkim_selector: null,
    dkim_key: null,
  }
  const settings = mergeSettings(config, id, { name: '', host: '', from_address: '', ...defaults }, input)
  const webhookSecret = encryptSecret(config, id, 'webhook', secret)
  const [row] = await db.query(insertConnection({ ...settings, workspaceId: workspace.id, id, webhookSecret, now: scope.now() }))
  return { ...viewOf(scope, row as StoredConnection), webhook_secret: secret }
}

/**
 * Changes the sent properties of a connection; null clears optional ones. Another server or username drops the password unless it is sent
 * in the same call, since it would go to that server; `warnings` say so (docs/contract/messages.md#connections). The key of DKIM and the
 * secret of the webhook stay, since no server gets them. Throws NOT_FOUND, and VALIDATION_ERROR like `createConnection`.
 */
export function changeConnection(scope: Scope, id: string, change: ConnectionChange): Promise<ConnectionView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { config, workspace } = scope
  return scope.db.transaction(async (tx) => {
    const before = requireRow(await tx.query(lockConnection({ workspaceId: workspace.id, id })))
    const merged = mergeSettings(config, before.id, before, change)
    const moved = serverProperties.filter((name) => merged[name] !== before[name])
    const isDropped = moved.length > 0 && change.password === undefined && before.password !== null
    const settings = isDropped ? { ...merged, password: null } : merged
    const [row] = await tx.query(updateConnection({ ...settings, workspaceId: workspace.id, id, now: scope.now() }))
    const view = viewOf(scope, row as StoredConnection)
    return isDropped ? { ...view, warnings: [...view.warnings, droppedWarning(moved)] } : view
  })
}

/** What decides to whom a password is given, and over which line. */
const serverProperties = ['host', 'port', 'secure', 'username'] as const

const droppedWarning = (moved: readonly string[]): string =>
  `The password was removed, because ${moved.join(', ')} changed without it: send password again`

/** Deletes a connection: its queued messages fail, and its webhook URL is no longer valid. Throws NOT_FOUND. */
export async function removeConnection({ db, workspace }: Scope, id: string): Promise<void> {
  requireRow(isUuid(id) ? await db.query(deleteConnection({ workspaceId: workspace.id, id })) : [])
}

/** A connection with decrypted secrets, for talking to its server. */
export interface DecryptedConnection {
  readonly id: string
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly username: string
  readonly password: string
  readonly from: string
  readonly dkim: Config['dkim']
  readonly updatedAt: string
}

/** Loads a connection and decrypts its secrets; undefined when it was deleted. */
export async function loadDecryptedConnection(
  db: Executor,
  config: Config,
  workspaceId: string,
  id: string,
): Promise<DecryptedConnection | undefined> {
  const [row] = await db.query(findConnection({ workspaceId, id }))
  if (!row) return undefined
  const { host, port, secure, username, password, from_address: from, dkim_domain: domain, dkim_selector: selector } = row
  return {
    id,
    host,
    port,
    secure,
    username,
    from,
    updatedAt: row.updated_at,
    password: password === null ? '' : decryptSecret(config, id, 'password', password),
    dkim:
      domain === null || selector === null || row.dkim_key === null
        ? null
        : { domain, selector, privateKey: decryptSecret(config, id, 'dkim', row.dkim_key) },
  }
}

/** Saves the result of a connection test and returns the connection. Throws NOT_FOUND when it was deleted. */
export async function saveConnectionCheck(
  scope: Scope,
  { id, updatedAt }: DecryptedConnection,
  error: string | null,
): Promise<ConnectionView> {
  const status = error === null ? 'ok' : 'failed'
  const result = { status, error: error && cutText(error, 500), checkedAt: scope.now() } as const
  const [row] = await scope.db.query(updateConnectionCheck({ ...result, workspaceId: scope.workspace.id, id, testedVersion: updatedAt }))
  return row ? viewOf(scope, row) : getConnection(scope, id)
}

type Settings = Omit<StoredConnection, 'id' | 'status' | 'error' | 'checked_at' | 'created_at' | 'updated_at'>

/** A connection's settings: each sent value, otherwise the value from `before`. */
function mergeSettings(config: Config, id: string, before: Settings, sent: ConnectionChange): ConnectionSettings {
  const encrypt = (text: string | null, name: SecretName) => (text ? encryptSecret(config, id, name, text) : null)
  const { dkim } = sent
  const signature =
    dkim === undefined
      ? { dkimDomain: before.dkim_domain, dkimSelector: before.dkim_selector, dkimKey: before.dkim_key }
      : dkim === null
        ? { dkimDomain: null, dkimSelector: null, dkimKey: null }
        : {
            dkimDomain: dkim.domain.toLowerCase(),
            dkimSelector: dkim.selector,
            dkimKey: dkim.private_key === undefined ? requireStoredKey(before) : encrypt(readKey(dkim.private_key), 'dkim'),
          }
  return {
    name: sent.name ?? before.name,
    host: sent.host === undefined ? before.host : readHost(sent.host),
    port: sent.port ?? before.port,
    secure: sent.secure ?? before.secure,
    username: sent.username === undefined ? before.username : (sent.username ?? ''),
    password: sent.password === undefined ? before.password : encrypt(sent.password, 'password'),
    fromAddress: sent.from === undefined ? before.from_address : normalizeSender(sent.from),
    ...signature,
  }
}

/** Canonical spelling of a host. Whether it may be dialled is checked at each connect, since names may resolve differently later. */
function readHost(text: string): string {
  try {
    return canonicalHost(text.trim())
  } catch (error) {
    if (error instanceof EgressFailure) throw problem('VALIDATION_ERROR', 'host must be a name or an address, without a port')
    throw error
  }
}

/** Encrypted DKIM key of a connection. Throws VALIDATION_ERROR when it has none. */
function requireStoredKey({ dkim_key }: Pick<Settings, 'dkim_key'>): Buffer {
  if (dkim_key === null) throw problem('VALIDATION_ERROR', 'dkim.private_key is required')
  return dkim_key
}

function readKey(text: string): string {
  try {
    return parseSigningKey(text)
  } catch (error) {
    throw problem('VALIDATION_ERROR', `dkim.private_key ${(error as Error).message}`)
  }
}

function viewOf({ config }: Pick<Scope, 'config'>, row: StoredConnection): ConnectionView {
  const { id, name, host, port, secure, username, from_address: from, dkim_domain: domain, dkim_selector: selector } = row
  const { status, error, checked_at, created_at, updated_at } = row
  const dkim = domain === null || selector === null ? null : { domain, selector }
  const warnings =
    dkim !== null ? [] : ['Messages are not signed with DKIM: mail programs show no button to unsubscribe, and may take them for spam']
  const webhook_url = `${config.publicUrl}/webhooks/messages/${id}`
  return { id, name, host, port, secure, username, from, dkim, webhook_url, status, error, warnings, checked_at, created_at, updated_at }
}
