import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { createSemaphore } from '#shared/platform/kernel/process/semaphore.ts'
import { t } from '#shared/platform/kernel/schema.ts'

/** A password that somebody chooses: 8 to 200 characters. */
export const newPassword = t.String({ minLength: 8, maxLength: 200, description: 'a password of 8 to 200 characters' })

/** How a hash was made: memory in KiB, passes over it, lanes, salt and result. */
interface Hash {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly salt: Buffer
  readonly tag: Buffer
}

/** The least that OWASP advises for Argon2id: 16 to 80 ms, by the machine. */
const cost = { memory: 19 * 1024, passes: 2, parallelism: 1 } as const
const [saltBytes, tagBytes] = [16, 32]

const derive = promisify(argon2)
// A hash takes a thread of the pool of four that file system and name look-ups use too, so half of them stay free.
const inTurn = createSemaphore(2)

/** The Argon2id hash of a password as PHC text: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(await tagOf(password, { ...cost, salt }))}`
}

/** Whether the password is the one that was hashed. No hash, or none that can be read, takes the same time and is false. */
export async function verifyPassword(password: string, text: string | undefined): Promise<boolean> {
  const hash = readHash(text ?? '')
  const { tag, ...how } = hash ?? nobody
  return timingSafeEqual(await tagOf(password, how, tag.length), tag) && hash !== null
}

const nobody: Hash = { ...cost, salt: randomBytes(saltBytes), tag: randomBytes(tagBytes) }

/** The same password typed on another keyboard may come as other code points, so it is brought to one form first. */
const tagOf = (password: string, { memory, passes, parallelism, salt }: Omit<Hash, 'tag'>, tagLength = tagBytes): Promise<Buffer> =>
  inTurn(() => derive('argon2id', { message: password.normalize('NFKC'), nonce: salt, memory, passes, parallelism, tagLength }))

function readHash(text: string): Hash | null {
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
