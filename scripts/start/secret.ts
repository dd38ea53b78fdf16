import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The SECRET_KEY of a data folder: 32 random bytes as hexadecimal digits, made with the first call and kept in a file that
 * only its owner reads. What was encrypted with it is lost with it.
 */
export function keptSecret(dataDir: string): string {
  const file = join(dataDir, 'secret-key')
  mkdirSync(dataDir, { recursive: true })
  if (!existsSync(file)) {
    // Written aside and then given its name, so that a start that is cut off leaves no half of one.
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
    renameSync(unfinished, file)
  }
  return readFileSync(file, 'utf8').trim()
}
