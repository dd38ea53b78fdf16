import { makeToken, visibleKeyPrefix } from '#shared/core/people/tokens.ts'
import { findRefusedGrant } from '#shared/core/roles/grants.ts'
import { readActor } from '#shared/core/scope/actor.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import type { AccessKeyInput } from '#shared/core/workspaces/service-accounts/access-keys-schemas.ts'
import {
  type AccessKey,
  deleteAccessKey,
  findAccessKey,
  insertAccessKey,
  listAccessKeyRows,
} from '#shared/core/workspaces/service-accounts/access-keys-store.ts'
import { getServiceAccount } from '#shared/core/workspaces/service-accounts/service-accounts.ts'
import { lockServiceAccount } from '#shared/core/workspaces/service-accounts/store.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** Keys of a service account, oldest first. */
export async function listAccessKeys(scope: Scope, accountId: string): Promise<AccessKey[]> {
  const account = await getServiceAccount(scope, accountId)
  return scope.db.query(listAccessKeyRows({ workspaceId: scope.workspace.id, accountId: account.id }))
}

/** One key of a service account; NOT_FOUND when it has no key with this id. */
export async function getAccessKey({ db, workspace }: Scope, accountId: string, id: string): Promise<AccessKey> {
  return requireRow(isUuid(accountId) && isUuid(id) ? await db.query(findAccessKey({ workspaceId: workspace.id, accountId, id })) : [])
}

/** Creates a key of a service account that holds no more than the caller. The key is returned only here. */
export async function createAccessKey(scope: Scope, accountId: string, input: AccessKeyInput): Promise<AccessKey & { key: string }> {
  const expiresAt = readExpiry(input.expires_at ?? null, scope.now())
  return scope.db.transaction(async (tx) => {
    const transactionScope = within(scope, tx)
    requireRow(isUuid(accountId) ? await tx.query(lockServiceAccount({ workspaceId: scope.workspace.id, id: accountId })) : [])
    await requireNoExcess(transactionScope, accountId)
    const token = makeToken('key', scope.workspace.id)
    const key = { id: newId(), name: input.name?.trim() ?? '', prefix: visibleKeyPrefix(token.text), secretHash: token.hash, expiresAt }
    const row = requireRow(await tx.query(insertAccessKey({ workspaceId: scope.workspace.id, accountId, ...key })))
    return { ...row, key: token.text }
  })
}

/** Revokes a key, effective in every process from its next request. */
export async function revokeAccessKey({ db, workspace }: Scope, accountId: string, id: string): Promise<void> {
  requireRow(isUuid(accountId) && isUuid(id) ? await db.query(deleteAccessKey({ workspaceId: workspace.id, accountId, id })) : [])
}

/** A key carries all rights of its service account, so FORBIDDEN when the caller could not give them. */
async function requireNoExcess(scope: Scope, accountId: string): Promise<void> {
  const account = await readActor(scope.db, scope.workspace.id, accountId.toLowerCase())
  if (await findRefusedGrant(scope, account?.rules ?? []))
    throw problem('FORBIDDEN', 'The service account holds more than you do, or its rules test what you do not read')
}

function readExpiry(text: string | null, now: Date): string | null {
  if (text === null) return null
  const instant = toUtcInstant(text)
  if (instant === undefined) throw problem('VALIDATION_ERROR', 'expires_at must be RFC 3339, such as 2030-01-31T12:00:00Z')
  if (new Date(instant) <= now) throw problem('VALIDATION_ERROR', 'expires_at must be in the future')
  return instant
}
