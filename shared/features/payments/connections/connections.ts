import { readRows, type Scope } from '#shared/core/scope/scope.ts'
import { addWarnings } from '#shared/core/scope/visitor-warnings.ts'
import { decryptCredentials, encryptCredentials, openConnection, requireConnection } from '#shared/features/payments/connections/open.ts'
import type { ConnectionChange, ConnectionInput, ConnectionView, ProviderName } from '#shared/features/payments/connections/schemas.ts'
import {
  findConnections,
  hideConnection,
  insertConnection,
  lockConnection,
  type StoredConnection,
  saveCheck,
  updateConnection,
} from '#shared/features/payments/connections/store.ts'
import { nextSweep, sweepDue } from '#shared/features/payments/due.ts'
import { endConnectionJob } from '#shared/features/payments/jobs.ts'
import { ProviderUnavailable } from '#shared/features/payments/providers/call.ts'
import type { Credentials } from '#shared/features/payments/providers/provider.ts'
import { providers } from '#shared/features/payments/providers/providers.ts'
import { requireRedirectUrl } from '#shared/features/payments/redirect-url.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import type { Cause } from '#shared/platform/kernel/cause.ts'
import { Problem, problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { unknownKeyProblem } from '#shared/platform/kernel/known-keys.ts'

/** Maximum number of connections per workspace. */
const maxConnections = 100

/** Maximum length of one credential in characters. */
const maxCredentialLength = 500

/** Lists the connections of the workspace, oldest first. */
export const listConnections = async (scope: Scope): Promise<ConnectionView[]> =>
  (await readRows(scope, findConnections({ workspaceId: scope.workspace.id }))).map((connection) => viewConnection(scope, connection))

/** Reads one connection. Throws NOT_FOUND. */
export const getConnection = async (scope: Scope, id: string): Promise<ConnectionView> =>
  viewConnection(scope, await requireConnection(scope, id))

/** Creates a connection with status unchecked. Throws VALIDATION_ERROR naming a missing credential, and for a sandbox in mode live. */
export async function createConnection(scope: Scope, input: ConnectionInput): Promise<ConnectionView> {
  const { provider, name, mode, redirect_url } = input
  refuseLiveSandbox(provider, mode)
  const credentials = { ...readCredentials(provider, input.credentials ?? {}, true), ...providers[provider].ownCredentials?.() }
  const redirectUrl = requireRedirectUrl(redirect_url)
  const id = newId()
  const encrypted = encryptCredentials(scope, id, credentials)
  const insert = insertConnection({
    workspaceId: scope.workspace.id,
    id,
    provider,
    name,
    mode,
    redirectUrl,
    credentials: encrypted,
    createdAt: scope.now(),
    maxConnections,
  })
  const made = await scope.db.transaction(async (tx) => {
    const [connection] = await tx.query(insert)
    if (!connection) throw problem('VALIDATION_ERROR', `a workspace has at most ${maxConnections} payment connections`)
    await setDue(tx, sweepDue, scope.workspace.id, [{ subject: id, at: nextSweep(scope.now()) }])
    return connection
  })
  return viewConnection(scope, made)
}

/**
 * Changes the sent properties of a connection. New credentials or another mode reset its status to unchecked. Another mode or account drops
 * the credentials that are not sent with it, and `warnings` say so (docs/contract/payments.md#credentials). Throws NOT_FOUND,
 * VALIDATION_ERROR.
 */
export async function changeConnection(scope: Scope, id: string, change: ConnectionChange): Promise<ConnectionView> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  return scope.db.transaction(async (tx) => {
    const before = requireRow(await tx.query(lockConnection({ workspaceId: scope.workspace.id, id })))
    const { name = before.name, mode = before.mode, redirect_url } = change
    refuseLiveSandbox(before.provider, mode)
    const redirectUrl = redirect_url === undefined ? before.redirect_url : requireRedirectUrl(redirect_url)
    const sent = readCredentials(before.provider, change.credentials ?? {}, false)
    const isOther = Object.keys(sent).length > 0 || mode !== before.mode
    const { kept, dropped } = sortCredentials(before.provider, decryptCredentials(scope, before), sent, mode !== before.mode)
    const credentials = isOther ? encryptCredentials(scope, before.id, { ...kept, ...sent }) : before.credentials
    const status = isOther ? 'unchecked' : before.status
    const [after] = await tx.query(updateConnection({ workspaceId: scope.workspace.id, id, name, mode, redirectUrl, credentials, status }))
    return addWarnings(viewConnection(scope, after ?? before), dropped.length > 0 ? [droppedWarning(dropped)] : [])
  })
}

/**
 * Deletes a connection. Its webhook address answers NOT_FOUND at once; a worker cancels its open links at the provider. Throws NOT_FOUND.
 */
export async function removeConnection(scope: Scope, id: string): Promise<void> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await scope.db.transaction(async (tx) => {
    requireRow(await tx.query(hideConnection({ workspaceId: scope.workspace.id, id, deletedAt: scope.now() })))
    await scope.jobQueue.enqueue(tx, endConnectionJob, platformOrigin(scope), { connectionId: id })
  })
}

/** Tests the credentials at the provider and saves the result; no answer counts as failed. Throws NOT_FOUND. */
export async function checkConnection(scope: Scope, id: string): Promise<ConnectionView> {
  const connection = await requireConnection(scope, id)
  const { provider, account } = openConnection(scope, connection)
  const failure = await provider.checkCredentials(account).then(() => null, failureMessage)
  const [checked] = await scope.db.query(
    saveCheck({
      workspaceId: scope.workspace.id,
      id,
      status: failure === null ? 'ok' : 'failed',
      checkedAt: scope.now(),
      error: failure,
      testedCredentials: connection.credentials,
    }),
  )
  // The credentials changed during the test, or the connection was deleted.
  if (!checked) return viewConnection(scope, await requireConnection(scope, id))
  if (checked.deleted_at !== null) throw problem('NOT_FOUND')
  return viewConnection(scope, checked)
}

function failureMessage(error: unknown): string {
  if (error instanceof ProviderUnavailable || (error instanceof Problem && error.status < 500)) return error.message
  throw error
}

/** Origin of jobs that run as the platform, so they do not depend on the caller's account. */
export const platformOrigin = ({ workspace, cause }: { workspace: Pick<Scope['workspace'], 'id'>; cause: Cause }) => ({
  workspaceId: workspace.id,
  cause: { ...cause, actorId: null, actorType: 'system' as const },
})

/** Converts a stored connection to the answer's shape, without its credentials. */
function viewConnection({ config }: Pick<Scope, 'config'>, connection: StoredConnection): ConnectionView {
  const { id, provider, name, mode, redirect_url, status, last_checked_at, last_error, created_at } = connection
  return {
    id,
    provider,
    name,
    mode,
    redirect_url,
    status,
    last_checked_at,
    ...(last_error === null ? {} : { last_error }),
    created_at,
    webhook_url: `${config.publicUrl}/webhooks/payments/${id}`,
  }
}

function refuseLiveSandbox(provider: ProviderName, mode: string): void {
  if (provider === 'sandbox' && mode === 'live')
    throw problem('VALIDATION_ERROR', 'mode must be test for the sandbox: no money moves there')
}

const droppedWarning = (names: readonly string[]): string =>
  `The change removed ${names.join(', ')}, which belonged to another mode or account: send the new ones in credentials`

/** The stored credentials that stay beside the sent ones, and the names of those that another mode or account makes worthless. */
function sortCredentials(provider: ProviderName, stored: Credentials, sent: Credentials, isOtherMode: boolean) {
  const { credentialNames, accountName } = providers[provider]
  const isOtherAccount = accountName !== undefined && sent[accountName] !== undefined && sent[accountName] !== stored[accountName]
  const unsent = credentialNames.filter((name) => sent[name] === undefined && stored[name] !== undefined)
  const dropped = isOtherMode || isOtherAccount ? unsent : []
  return { kept: Object.fromEntries(Object.entries(stored).filter(([name]) => !dropped.includes(name))), dropped }
}

/** Reads the sent credentials. Throws VALIDATION_ERROR naming a missing, malformed or unknown one. */
function readCredentials(provider: ProviderName, sent: Readonly<Record<string, unknown>>, isNew: boolean): Credentials {
  const credentials: Record<string, string> = {}
  const names = providers[provider].credentialNames
  const unknown = Object.keys(sent).find((name) => !names.includes(name))
  if (unknown !== undefined) throw unknownKeyProblem(`credentials.${unknown}`, unknown, names, `the credentials of ${provider}`)
  for (const name of names) {
    const value = sent[name]
    if (value === undefined && !isNew) continue
    if (value === undefined || value === null) throw problem('VALIDATION_ERROR', `credentials.${name} is required for ${provider}`)
    if (typeof value !== 'string' || value === '' || value.length > maxCredentialLength || /[^\x21-\x7e]/.test(value)) {
      throw problem('VALIDATION_ERROR', `credentials.${name} must be 1 to ${maxCredentialLength} characters without blanks`)
    }
    credentials[name] = value
  }
  return credentials
}
