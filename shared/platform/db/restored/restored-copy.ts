import { setTimeout as pause } from 'node:timers/promises'
import type { Executor } from '#shared/platform/db/database.ts'
import { findHold, findMark, hasRestoredCopies } from '#shared/platform/db/restored/store.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'

/** The interval at which a process that waits reads the mark, in milliseconds. */
const pollMs = 500

/** Whether the database is a restored copy that may call nobody yet. */
export const isHeld = async (db: Executor): Promise<boolean> => (await db.query(findHold()))[0]?.is_held === true

/**
 * With KONTOR_RESTORED=1, waits until `kontor restored` has marked this copy of the database. A mark that came with the backup, of an
 * earlier restore, does not count. Call it before anything else uses the database.
 */
export async function waitUntilRestored(db: Executor, { restored }: Pick<Config, 'restored'>, log: Logger): Promise<void> {
  if (!restored) return
  for (let isFirst = true; !(await isMarked(db)); isFirst = false) {
    if (isFirst) log.warn('KONTOR_RESTORED is set: waiting until `bin/kontor restored` has run on this database')
    await pause(pollMs)
  }
}

/** Logs, once at the start of a process, that it calls nobody. */
export async function warnWhileHeld(db: Executor, log: Logger): Promise<void> {
  if (await isHeld(db)) log.warn('this is a restored copy: it sends no mail and calls nobody until `bin/kontor restored --live`')
}

const isMarked = async (db: Executor): Promise<boolean> =>
  (await db.query(hasRestoredCopies()))[0]?.is_there === true && (await db.query(findMark()))[0]?.is_marked === true
