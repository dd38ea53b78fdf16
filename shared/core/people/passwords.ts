import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { createBoundedQueue } from '#shared/platform/kernel/process/semaphore.ts'

/** Parameters and result of an Argon2id hash; `memory` in KiB. */
interface Hash {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly salt: Buffer
  readonly tag: Buffer
}

/** The OWASP minimum for Argon2id: 16 to 80 ms, depending on the machine. */
const cost = { memory: 19 * 1024, passes: 2, parallelism: 1 } as const
const [saltBytes, tagBytes] = [16, 32]

const derive = promisify(argon2)
/**
 * Each hash occupies one of the four libuv threads; two stay free for file system calls and name look-ups. 64 hashes of 16 to 80 ms, two at a
 * time, take 0.5 to 2.6 s.
 */
const withHashSlot = createBoundedQueue({ slots: 2, maxWaiting: 64, maxWaitMs: 3_000, busy: 'Too many passwords are being checked' })

/** Counts uses of passwords on behalf of a request. Both functions throw RATE_LIMITED past the quota. */
export interface PasswordQuota {
  /** Counts a check of the password of the account with this address, against the account and the client's network address. */
  readonly countCheck: (email: string) => Promise<void>
  /** Counts the setting of a first or new password by a mailed token, against the token. */
  readonly countSetting: (token: string) => Promise<void>
}

/**
 * Whether the password matches the hash of the account with this address. Counts first: no password is checked without a quota
 * (docs/contract/limits.md#passwords). A missing or malformed hash takes the same time and is false. OVERLOADED when the queue of hashes is
 * full.
 */
export async function checkPassword(
  quota: PasswordQuota,
  { email, password }: { readonly email: string; readonly password: string },
  storedHash: string | undefined,
): Promise<boolean> {
  await quota.countCheck(email)
  const hash = parseHash(storedHash ?? '')
  const { tag, ...parameters } = hash ?? decoyHash
  return timingSafeEqual(await computeTag(password, parameters, tag.length), tag) && hash !== null
}

/** `hashPassword` of a password that is set by a mailed token. Counts first. The caller has found the token to be valid. */
export async function hashPasswordByToken(quota: PasswordQuota, { token, password }: { token: string; password: string }): Promise<string> {
  await quota.countSetting(token)
  return hashPassword(password)
}

/**
 * Argon2id hash of a password as PHC text: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. Counts nothing: for the operator, and for
 * callers whose present password has been checked. OVERLOADED when the queue of hashes is full.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(await computeTag(password, { ...cost, salt }))}`
}

const decoyHash: Hash = { ...cost, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) }

/** Normalizes to NFKC first: another keyboard may send the same password as other code points. */
const computeTag = (password: string, { memory, passes, parallelism, salt }: Omit<Hash, 'tag'>, tagLength = tagBytes): Promise<Buffer> =>
  withHashSlot(() => derive('argon2id', { message: password.normalize('NFKC'), nonce: salt, memory, passes, parallelism, tagLength }))

function parseHash(text: string): Hash | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(text)
  const [, memory, passes, parallelism, salt = '', tag = ''] = match ?? []
  if (!match) return null
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
