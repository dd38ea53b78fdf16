import { userInfo } from 'node:os'
import type { Operator, PlatformScope } from '#shared/core/scope/scope.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { openServices, type ProcessKind, platformScope } from '#shared/services.ts'

/** Scope of a command: the platform itself, without a user or workspace. */
export interface CommandScope extends PlatformScope {
  readonly db: Database
  readonly operator: Operator
}

/** The command line as operator, with the name of the system's user who runs the command where it has one, as in `command line (kontor)`. */
export function commandLine(): Operator {
  return { id: null, name: ['command line', ...userNames().map((name) => `(${name})`)].join(' '), isReadOnly: false }
}

function userNames(): readonly string[] {
  try {
    return [userInfo().username]
  } catch {
    // A container may run under a user id without a name.
    return []
  }
}

/** Opens the services of a Kontor process, runs the work with them and closes them. `key`: see `ProcessKind`. */
export async function withCommandScope<T>(
  config: Config,
  work: (platform: CommandScope) => Promise<T>,
  key: ProcessKind['key'] = 'unchecked',
): Promise<T> {
  const kind = {
    name: 'kontor command',
    connections: 6,
    waitsForDatabase: false,
    statementTimeoutMs: 60_000,
    supervise: false,
    waitsForRestored: false,
    key,
  }
  const { services, close } = await openServices(config, createLogger('kontor', 'silent'), kind)
  try {
    return await work({ ...platformScope(services, services.database, null, platformCause(newId())), operator: commandLine() })
  } finally {
    await close()
  }
}
