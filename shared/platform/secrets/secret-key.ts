import type { Executor } from '#shared/platform/db/database.ts'
import { createEncryptor } from '#shared/platform/kernel/crypto/encryption.ts'
import { keyName, openingKeys, type SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { startRefusal } from '#shared/platform/kernel/process/start-refusal.ts'
import type { SealedColumn } from '#shared/platform/secrets/sealed-store.ts'
import {
  deleteKeys,
  findKeys,
  findKeyTable,
  findOtherHolders,
  holdKeys,
  insertKey,
  lockKeys,
  type StoredKey,
} from '#shared/platform/secrets/store.ts'

const text = 'kontor'
const checkWith = (secretKey: Buffer) => createEncryptor({ secretKey, otherSecretKey: null }, 'secret key check')

/** Seals the check value of a key. */
export const sealCheck = (secretKey: Buffer, id: string): Buffer => checkWith(secretKey).encrypt(text, id)

/** Whether a stored key is this one. */
export const isKey = (secretKey: Buffer | null, { id, check_sealed }: StoredKey): boolean =>
  secretKey !== null && checkWith(secretKey).renew(check_sealed, id) === 'current'

/** The name of a process's database sessions, which tells a rotation under which key the process seals. */
export const sessionName = (process: string, { secretKey }: SecretKeys): string => `${process} ${keyName(secretKey)}`

/**
 * Throws a refusal to start when SECRET_KEY is not the key under which this database's secrets are sealed. On a database without a check
 * value, SECRET_KEY has to open some of the values that are stored already, if there are any; then its check value is stored.
 */
export async function requireSecretKey(db: Executor, keys: SecretKeys, columns: readonly SealedColumn[]): Promise<void> {
  if ((await db.query(findKeyTable())).length === 0) throw new Error('The database is not migrated: run bin/kontor migrate first')
  let stored = await readKeys(db)
  if (stored.length === 0) {
    if (await isForeign(db, keys, columns)) throw startRefusal(`SECRET_KEY does not open what is sealed in this database: ${hint}`)
    await storeKey(db, keys)
    stored = await readKeys(db)
  }
  const fault = faultOf(keys, stored)
  if (fault !== undefined) throw startRefusal(fault)
}

/** Throws the same refusal for a key that is not the installation's. A database without a check value takes any key, and stores none. */
export async function refuseOtherKey(db: Executor, keys: SecretKeys): Promise<void> {
  if ((await db.query(findKeyTable())).length === 0) return
  const stored = await readKeys(db)
  const fault = stored.length === 0 ? undefined : faultOf(keys, stored)
  if (fault !== undefined) throw startRefusal(fault)
}

/** The keys of now. The second statement sees what a rotation that the first one waited for has added. */
const readKeys = (db: Executor): Promise<StoredKey[]> =>
  db.transaction(async (tx) => {
    await tx.query(holdKeys())
    return tx.query(findKeys())
  })

const hint = 'set the key that this installation had, or see "Rotating the secret key" in docs/operations/backup.md'

/** Why a process with these keys must not run on a database with these stored keys; undefined when it may. */
function faultOf({ secretKey, otherSecretKey }: SecretKeys, stored: readonly StoredKey[]): string | undefined {
  const find = (state: StoredKey['state'], key: Buffer | null) => stored.find((one) => one.state === state && isKey(key, one))
  const retired = find('retired', secretKey)
  if (retired) return `SECRET_KEY was replaced by a rotation that ended at ${retired.since}: set the new key`
  const isRotating = stored.some(({ state }) => state === 'next')
  const isNext = isRotating && find('next', secretKey) !== undefined
  const opensCurrent = (find('current', secretKey) ?? find('current', otherSecretKey)) !== undefined
  if (isRotating && !isNext && opensCurrent) {
    return 'SECRET_KEY is being replaced by a rotation: set the new key as SECRET_KEY and the old one as SECRET_KEY_OTHER'
  }
  if (isNext && !opensCurrent) {
    return 'SECRET_KEY_OTHER must be the old key until bin/kontor secret rotate has ended: not everything is sealed under SECRET_KEY yet'
  }
  return opensCurrent ? undefined : `SECRET_KEY is not the key of this installation: ${hint}`
}

/** Throws VALIDATION_ERROR when a process on this database seals under another key, and names it. */
export async function requireOwnKey(db: Executor, secretKey: Buffer): Promise<void> {
  const others = await db.query(findOtherHolders({ name: keyName(secretKey) }))
  if (others.length === 0) return
  const named = others.map(({ process, host, connections }) => `${process} at ${host} (${connections} connections)`)
  throw problem('VALIDATION_ERROR', `Processes still seal under another key, give them this one or stop them: ${named.join(', ')}`)
}

/**
 * Makes SECRET_KEY the key of the installation, although it may open nothing that is stored. Throws VALIDATION_ERROR while a process seals
 * under another key.
 */
export async function adoptSecretKey(db: Executor, keys: SecretKeys): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(lockKeys())
    await requireOwnKey(tx, keys.secretKey)
    await tx.query(deleteKeys())
    await storeKey(tx, keys)
  })
}

async function storeKey(db: Executor, { secretKey }: SecretKeys): Promise<void> {
  const id = newId()
  await db.query(insertKey({ id, state: 'current', check: sealCheck(secretKey, id) }))
}

/** Values of a column that are tried: some may have been sealed under a wrong key by an earlier release, which did not notice it. */
const sampleSize = 20

/** Whether there are sealed values, and the keys open none of the first ones. */
async function isForeign(db: Executor, keys: SecretKeys, columns: readonly SealedColumn[]): Promise<boolean> {
  let tried = 0
  for (const column of columns) {
    const encryptor = column.encryptor({ secretKey: openingKeys(keys)[0], otherSecretKey: null })
    for (const { sealed, place } of await column.read(db, null, sampleSize)) {
      if (encryptor.renew(sealed, place) === 'current') return false
      tried += 1
    }
  }
  return tried > 0
}
