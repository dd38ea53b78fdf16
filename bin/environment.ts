import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Config, databaseAddress, readConfig } from '#shared/platform/kernel/config.ts'
import { problem } from '#shared/platform/kernel/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Files in DATA_DIR in which `npm start` keeps values for other programs, by the variable that they replace. */
const keptFiles = { DATABASE_URL: 'database-url', SECRET_KEY: 'secret-key' } as const

/** Completes the environment from the files of a running `npm start` in DATA_DIR, so that commands reach its database without settings. */
export function completeEnvironment(environment: Environment): Environment {
  const dataDir = resolve(environment.DATA_DIR || '.data')
  const values = Object.entries(keptFiles).flatMap(([name, file]) => {
    const path = join(dataDir, file)
    return !environment[name] && existsSync(path) ? [[name, readFileSync(path, 'utf8').trim()]] : []
  })
  return { ...environment, ...Object.fromEntries(values) }
}

/** Returns the address of the database. Throws VALIDATION_ERROR when DATABASE_URL is missing, and an Error when it is invalid. */
export function databaseOf({ DATABASE_URL }: Environment): string {
  if (!DATABASE_URL) {
    const hint = 'not needed while Kontor runs by `npm start` on the same DATA_DIR'
    throw problem('VALIDATION_ERROR', `DATABASE_URL must name the database; ${hint}`)
  }
  try {
    return databaseAddress(DATABASE_URL)
  } catch (error) {
    throw new Error(`DATABASE_URL ${(error as Error).message}`)
  }
}

/** Reads the configuration from an environment, as the API and the workers do. Without `needsSecret`, zeros replace a missing SECRET_KEY. */
export function configOf(environment: Environment, needsSecret = false): Config {
  const SECRET_KEY = environment.SECRET_KEY || (needsSecret ? undefined : '0'.repeat(64))
  return readConfig({ ...environment, DATABASE_URL: databaseOf(environment), SECRET_KEY })
}
