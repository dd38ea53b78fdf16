import { openBlobs } from '#shared/blobs/open.ts'
import { Cache } from '#shared/db/cache.ts'
import { openClock } from '#shared/db/clock.ts'
import { Database } from '#shared/db/database.ts'
import { guards } from '#shared/guards.ts'
import type { Config } from '#shared/kernel/config.ts'
import { newId } from '#shared/kernel/ids.ts'
import { createLogger } from '#shared/kernel/log.ts'
import { Queue } from '#shared/queue/queue.ts'
import type { PlatformScope } from '#shared/scope/scope.ts'
import { countUses } from '#shared/types/indexes/count-uses.ts'

/** The scope of a command: the platform itself, on nobody's behalf. */
export interface Operator extends PlatformScope {
  readonly db: Database
}

/** Does work with what the processes of Kontor have, and lets go of it. */
export async function asOperator<T>(config: Config, work: (operator: Operator) => Promise<T>): Promise<T> {
  await using cleanup = new AsyncDisposableStack()
  const log = createLogger('kontor', 'silent')
  const db = new Database(config.databaseUrl, { connections: 4, name: 'kontor command', statementTimeoutMs: 60_000 })
  cleanup.defer(() => db.close())
  const cache = new Cache(config.databaseUrl, 'kontor command')
  cleanup.defer(() => cache.close())
  const queue = new Queue(db, { supervise: false })
  await queue.open(() => undefined)
  cleanup.defer(() => queue.close())
  const blobs = await openBlobs(config, db)
  cleanup.defer(() => blobs.close())
  const cause = { actorId: null, actorType: 'system', requestId: newId(), depth: 0 } as const
  const { now, close } = await openClock(db, log)
  cleanup.defer(close)
  const uses = countUses(db, now, log)
  cleanup.defer(() => uses.flush())
  return await work({ config, db, cache, queue, blobs, log, now, uses, guards, principal: null, cause })
}
