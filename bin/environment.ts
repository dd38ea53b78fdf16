import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

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
