import type { Executor } from '#shared/platform/db/database.ts'
import { isOverloaded } from '#shared/platform/db/database-errors.ts'
import type { SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { linkKeyOf } from '#shared/platform/secrets/link-keys.ts'
import type { SealedColumn, SealedValue } from '#shared/platform/secrets/sealed-store.ts'
import { isKey, requireOwnKey, sealCheck } from '#shared/platform/secrets/secret-key.ts'
import { insertKey, linkKeys, lockKeys, promoteKey, retireKey } from '#shared/platform/secrets/store.ts'

/** Values per step, of which an answer under an Idempotency-Key may have megabytes. A step locks its rows for milliseconds. */
const stepSize = 50

/** Tries of a step whose rows stay locked for 3 s each time. */
const maxTries = 20

/** What a rotation did with the values of a column. */
interface RotatedColumn {
  readonly name: string
  /** Values that this call sealed anew. */
  readonly sealed: number
  /** Keys of rows whose value neither key opens, as text. */
  readonly unreadable: readonly string[]
}

interface Rotation {
  readonly db: Executor
  readonly keys: SecretKeys
  readonly columns: readonly SealedColumn[]
  /** Forgets digests that were made before this instant and that the new key cannot compare. */
  readonly forgetDigests: (db: Executor, before: string) => Promise<void>
}

/**
 * Seals under SECRET_KEY all that SECRET_KEY_OTHER sealed, while the installation is in use, and then retires the other key. A call that was
 * killed is repeated. Throws VALIDATION_ERROR when the keys are not those of a rotation, or when a process still seals under another key.
 */
export async function rotateSecrets({ db, keys, columns, forgetDigests }: Rotation): Promise<readonly RotatedColumn[]> {
  const begun = await begin(db, keys)
  const rotated = new Map<string, RotatedColumn>(columns.map(({ name }) => [name, { name, sealed: 0, unreadable: [] }]))
  // A transaction that read a value before it was sealed anew may write the old one back, so passes go on until one finds nothing.
  for (let found = true; found; ) {
    found = false
    for (const column of columns) {
      const { sealed, unreadable } = await sealColumn(db, keys, column)
      const before = rotated.get(column.name)?.sealed ?? 0
      rotated.set(column.name, { name: column.name, sealed: before + sealed, unreadable })
      found ||= sealed > 0
    }
  }
  if (begun !== null) {
    await forgetDigests(db, begun)
    await end(db, keys)
  }
  return [...rotated.values()]
}

/** Begins a rotation, or finds the one that has begun: from now on only processes with the new key start. Null when it has ended already. */
async function begin(db: Executor, keys: SecretKeys): Promise<string | null> {
  const { secretKey, otherSecretKey } = keys
  if (otherSecretKey === null) throw problem('VALIDATION_ERROR', 'SECRET_KEY_OTHER must be the old key')
  return db.transaction(async (tx) => {
    const stored = await tx.query(lockKeys())
    const current = stored.find(({ state }) => state === 'current')
    if (current && isKey(secretKey, current)) {
      if (stored.some((one) => one.state === 'retired' && isKey(otherSecretKey, one))) return null
      throw problem('VALIDATION_ERROR', 'SECRET_KEY is still the old key: swap it with SECRET_KEY_OTHER in every process first')
    }
    await requireOwnKey(tx, secretKey)
    const next = stored.find(({ state }) => state === 'next')
    if (next) return next.since
    const id = newId()
    await tx.query(insertKey({ id, state: 'next', check: sealCheck(secretKey, id) }))
    // Another call may have begun the same rotation meanwhile.
    return (await tx.query(lockKeys())).find(({ state }) => state === 'next')?.since ?? null
  })
}

async function end(db: Executor, keys: SecretKeys): Promise<void> {
  const { otherSecretKey } = keys
  if (otherSecretKey === null) return
  await db.transaction(async (tx) => {
    const current = (await tx.query(lockKeys())).find(({ state }) => state === 'current')
    if (!current || !isKey(otherSecretKey, current)) return
    await tx.query(retireKey({ linkKey: linkKeys.seal(keys, current, linkKeyOf(otherSecretKey).toString('base64')) }))
    await tx.query(promoteKey())
  })
}

/** Seals the values of a column anew, in the order of their rows. */
async function sealColumn(db: Executor, keys: SecretKeys, column: SealedColumn): Promise<Omit<RotatedColumn, 'name'>> {
  const encryptor = column.encryptor(keys)
  const unreadable: string[] = []
  let sealed = 0
  let after: SealedValue | null = null
  for (;;) {
    const values: readonly SealedValue[] = await column.read(db, after, stepSize)
    const renewed = values.flatMap((value) => {
      const result = encryptor.renew(value.sealed, value.place)
      if (result === 'unreadable') unreadable.push(Object.values(value.key).join(' '))
      return typeof result === 'string' ? [] : [{ ...value, renewed: result }]
    })
    if (renewed.length > 0) sealed += await whileOverloaded(() => column.replace(db, renewed))
    after = values.at(-1) ?? null
    if (values.length < stepSize) return { sealed, unreadable }
  }
}

/** Does work again that met a lock or a deadlock; it has changed nothing. */
async function whileOverloaded<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === maxTries || !isOverloaded(error)) throw error
    }
  }
}
