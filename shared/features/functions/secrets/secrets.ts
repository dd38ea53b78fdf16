import type { Scope } from '#shared/core/scope/scope.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import { deleteSecret, findSecret, findSecrets, lockSecrets, putSecret } from '#shared/features/functions/secrets/store.ts'
import { createEncryptor, type Encryptor } from '#shared/platform/kernel/crypto/encryption.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** A secret as it is listed: its value is never answered. */
export const secretView = schema(
  t.Object(
    { name: t.String(), created_at: t.String({ format: 'date-time' }), updated_at: t.String({ format: 'date-time' }) },
    { title: 'FunctionSecret', description: 'A value that functions of the workspace read with sdk.secrets.get, and nobody else.' },
  ),
)
export type SecretView = TypeOf<typeof secretView>

export const secretInput = schema(
  t.Object({ value: t.String({ minLength: 1, maxLength: functionLimits.secretCharacters, description: 'Never answered.' }) }),
)

export const listSecrets = ({ db, workspace }: Scope): Promise<SecretView[]> => db.query<SecretView>(findSecrets(workspace.id))

/** Keeps a secret, sealed, in place of the one before. VALIDATION_ERROR for a name that is no identifier of up to 64 letters, or one too many. */
export async function saveSecret(scope: Scope, name: string, value: string): Promise<SecretView> {
  if (!isSecretName(name)) throw problem('VALIDATION_ERROR', 'name must be 1 to 64 letters, digits or _, and not start with a digit')
  const sealed = secrets(scope).encrypt(value, placeOf(scope, name))
  const most = functionLimits.secretsPerWorkspace
  const [kept] = await scope.db.transaction(async (tx) => {
    await tx.query(lockSecrets(scope.workspace.id))
    return tx.query<SecretView>(putSecret(scope.workspace.id, name, sealed, most))
  })
  if (!kept) throw problem('VALIDATION_ERROR', `a workspace may keep at most ${most} secrets`)
  return kept
}

/** A secret's value, for a run of a function. Throws NOT_FOUND. */
export async function readSecret(scope: Scope, name: string): Promise<string> {
  const [found] = isSecretName(name) ? await scope.db.query<{ value: Buffer }>(findSecret(scope.workspace.id, name)) : []
  if (!found) throw problem('NOT_FOUND', `There is no secret ${name.slice(0, 64)}`)
  return secrets(scope).decrypt(found.value, placeOf(scope, name))
}

/** Throws NOT_FOUND. */
export async function removeSecret({ db, workspace }: Scope, name: string): Promise<void> {
  const removed = isSecretName(name) ? await db.query(deleteSecret(workspace.id, name)) : []
  if (removed.length === 0) throw problem('NOT_FOUND')
}

const isSecretName = (text: string): boolean => /^[A-Za-z_]\w{0,63}$/.test(text)

const secrets = ({ config }: Scope): Encryptor => createEncryptor(config.secretKey, 'function secrets')
const placeOf = ({ workspace }: Scope, name: string): string => `${workspace.id} ${name}`
