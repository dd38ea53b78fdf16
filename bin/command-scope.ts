import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { Database } from '#shared/platform/db/database.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { openServices, type ProcessKind, platformScope } from '#shared/services.ts'

/** Scope of a command: the platform itself, without a user or workspace. */
export interface CommandScope extends PlatformScope {
  readonly db: Database
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
    const cause = { actorId: null, actorType: 'system', requestId: newId(), depth: 0 } as const
    return await work(platformScope(services, services.database, null, cause))
  } finally {
    await close()
  }
}
