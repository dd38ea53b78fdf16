import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { addToFigure } from '#shared/platform/kernel/process/work-figures.ts'
import type { WorkOwner } from '#shared/platform/kernel/process/work-owner.ts'

/** Logs statements that take at least `ms`, the wait for a connection included. */
export interface SlowStatements {
  readonly ms: number
  readonly log: Logger
}

/** The most logged characters of a statement's text. */
const maxText = 2_000

/**
 * Runs a statement and adds its time to the owner's figures. A slow one is logged with its text, never its values; not one that waited for a
 * database that is away, since the outage is logged once.
 */
export async function runMeasured<Row>(
  slow: SlowStatements | undefined,
  owner: WorkOwner,
  statement: Statement<Row>,
  run: () => Promise<Row[]>,
): Promise<Row[]> {
  const started = performance.now()
  let rows: number | undefined
  let isAway = false
  try {
    const found = await run()
    rows = found.length
    return found
  } catch (error) {
    isAway = isDatabaseUnavailable(error)
    throw error
  } finally {
    const ms = performance.now() - started
    addToFigure(owner, 'databaseMs', ms)
    if (slow && ms >= slow.ms && !isAway) {
      const text = statement.text.replaceAll(/\s+/g, ' ').trim().slice(0, maxText)
      slow.log.warn({ statement: statement.name, text, ms: Math.round(ms), rows }, 'slow statement')
    }
  }
}
