import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, databaseAddress, readConfig } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** What `npm start` keeps in its data folder for other programs, by the variable that it stands in for. */
const keptFiles = { DATABASE_URL: 'database-url', SECRET_KEY: 'secret-key' } as const

/** The environment, completed by what a running `npm start` keeps below DATA_DIR, so that commands reach its database without a setting. */
export function completeEnvironment(environment: Environment): Environment {
  const dataDir = resolve(environment.DATA_DIR || '.data')
  const kept = Object.entries(keptFiles).flatMap(([name, file]) => {
    const path = join(dataDir, file)
    return !environment[name] && existsSync(path) ? [[name, readFileSync(path, 'utf8').trim()]] : []
  })
  return { ...environment, ...Object.fromEntries(kept) }
}

/** The address of the database. Throws VALIDATION_ERROR without one. */
export function databaseOf({ DATABASE_URL }: Environment): string {
  if (!DATABASE_URL) {
    const hint = 'it is known without that while Kontor runs by `npm start` on the same DATA_DIR'
    throw problem('VALIDATION_ERROR', `DATABASE_URL must name the database; ${hint}`)
  }
  try {
    return databaseAddress(DATABASE_URL)
  } catch (error) {
    throw new Error(`DATABASE_URL ${(error as Error).message}`)
  }
}

/** The configuration of the processes. A command that stores nothing encrypted runs without their key. */
export function configOf(environment: Environment, needsSecret = false): Config {
  const SECRET_KEY = environment.SECRET_KEY || (needsSecret ? undefined : '0'.repeat(64))
  return readConfig({ ...environment, DATABASE_URL: databaseOf(environment), SECRET_KEY })
}
