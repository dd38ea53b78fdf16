import { permits } from '#shared/core/scope/access.ts'
import { loadActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import type { SecretView } from '#shared/features/functions/secrets/schemas.ts'
import { deleteSecret, findSecret, findSecrets, lockSecrets, putSecret, secretValues } from '#shared/features/functions/secrets/store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

export const listSecrets = ({ db, workspace }: Scope): Promise<SecretView[]> => db.query(findSecrets({ workspaceId: workspace.id }))

/**
 * Stores a secret encrypted, in place of an earlier value. Throws VALIDATION_ERROR for an invalid name, and for a new secret when the
 * workspace has `secretsPerWorkspace` already.
 */
export async function saveSecret(scope: Scope, name: string, value: string): Promise<SecretView> {
  if (!isSecretName(name)) throw problem('VALIDATION_ERROR', 'name must be 1 to 64 letters, digits or _, and not start with a digit')
  const maxSecrets = functionLimits.secretsPerWorkspace
  const workspaceId = scope.workspace.id
  const encrypted = secretValues.seal(scope.config, { workspace_id: workspaceId, name }, value)
  const [stored] = await scope.db.transaction(async (tx) => {
    await tx.query(lockSecrets({ workspaceId }))
    return tx.query(putSecret({ workspaceId, name, value: encrypted, maxSecrets }))
  })
  if (!stored) throw problem('VALIDATION_ERROR', `a workspace may keep at most ${maxSecrets} secrets`)
  return stored
}

/** A secret's value, for a run of an author's source. Throws NOT_FOUND, also unless the author holds functions:create on every function. */
export async function readSecret({ cache, db, workspace, config }: Scope, name: string, authorId: string): Promise<string> {
  const author = await loadActor(cache, db, workspace.id, authorId)
  const isAllowed = author !== undefined && permits({ actor: author }, 'functions:create')
  const [found] = isAllowed && isSecretName(name) ? await db.query(findSecret({ workspaceId: workspace.id, name })) : []
  if (!found) throw problem('NOT_FOUND', `There is no secret ${name.slice(0, 64)} that the function's author may use`)
  return secretValues.open(config, { workspace_id: workspace.id, name }, found.value)
}

/** Deletes a secret. Throws NOT_FOUND. */
export async function removeSecret({ db, workspace }: Scope, name: string): Promise<void> {
  const removed = isSecretName(name) ? await db.query(deleteSecret({ workspaceId: workspace.id, name })) : []
  if (removed.length === 0) throw problem('NOT_FOUND')
}

const isSecretName = (text: string): boolean => /^[A-Za-z_]\w{0,63}$/.test(text)
