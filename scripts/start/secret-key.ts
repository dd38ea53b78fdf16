import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from './private-file.ts'

/**
 * The SECRET_KEY of a data folder: 32 random bytes as hexadecimal digits, created by the first call and kept in a file that only its owner
 * reads. Without the key, encrypted data is lost, so an invalid file is an error and is never replaced.
 */
export function ensureSecretKey(dataDir: string): string {
  const file = join(dataDir, 'secret-key')
  if (!existsSync(file)) writePrivate(file, `${randomBytes(32).toString('hex')}\n`)
  const secret = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/i.test(secret)) {
    throw new Error(`${file} holds no secret key. Bring back the one that was in it; without it, what is sealed in the database is lost.`)
  }
  return secret
}
