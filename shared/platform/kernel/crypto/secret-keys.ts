import { hkdfSync } from 'node:crypto'

/** The secret keys of a process. There are two while the key is rotated (docs/decisions/secret-key.md). */
export interface SecretKeys {
  /** 32 bytes; the keys that seal stored secrets and sign are derived from them. */
  readonly secretKey: Buffer
  /** 32 bytes that also open and verify, but neither seal nor sign; null when no rotation is under way. */
  readonly otherSecretKey: Buffer | null
}

/** Derives 32 bytes for one purpose from a secret key. */
export const deriveKey = (secretKey: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, Buffer.alloc(0), purpose, 32))

/** The secret keys that open and verify: the own one first. */
export const openingKeys = ({ secretKey, otherSecretKey }: SecretKeys): readonly [Buffer, ...Buffer[]] =>
  otherSecretKey === null ? [secretKey] : [secretKey, otherSecretKey]

/** A name by which a key can be told from another: 8 hexadecimal digits, from which nothing of the key follows. */
export const keyName = (secretKey: Buffer): string => deriveKey(secretKey, 'kontor key name').toString('hex').slice(0, 8)
