import type { Executor } from '#shared/platform/db/database.ts'
import { listProcesses } from '#shared/platform/db/processes/store.ts'
import { hasRestoredCopies, markLive, markRestored } from '#shared/platform/db/restored/store.ts'
import { hasFeeds, renewFeeds } from '#shared/platform/events/feed-store.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../../command.ts'

export const restoredCommands = [
  command({
    name: 'restored',
    summary: 'Mark this database as restored from a backup, before any process starts: it sends no mail, charges and calls nobody',
    options: schema(
      t.Object({
        live: t.Optional(t.Boolean({ description: 'let the copy send mail, charge and call again' })),
        yes: t.Optional(t.Boolean({ description: 'mark it although processes run on it, which then call nobody either' })),
      }),
    ),
    run: async ({ live = false, yes = false }, { db }) => {
      if (!(await db.query(hasRestoredCopies()))[0]?.is_there)
        throw problem('VALIDATION_ERROR', 'The database was made by an earlier release: run bin/kontor migrate first')
      if (!live && !yes) await refuseWhileInUse(db)
      const [marked] = live ? await db.query(markLive()) : await markAsRestored(db)
      if (!marked) throw problem('NOT_FOUND', 'This copy is not marked as restored: run bin/kontor restored first')
      const line = live
        ? 'This copy is live: it sends mail, charges and calls.'
        : 'This copy sends no mail, charges and calls nobody until bin/kontor restored --live. Processes may start.'
      return { data: { live }, lines: [line] }
    },
  }),
]

/** Marks the copy, whose events may be numbered differently from now on than they were after the backup. */
const markAsRestored = (db: Executor) =>
  db.transaction(async (tx) => {
    if ((await tx.query(hasFeeds()))[0]?.is_there) await tx.query(renewFeeds())
    return tx.query(markRestored())
  })

/** Protects an installation in use: DATABASE_URL may name it by mistake. A backup also holds the processes that ran while it was made. */
async function refuseWhileInUse(db: Executor): Promise<void> {
  const running = (await db.query(listProcesses())).filter(({ dead }) => !dead)
  if (running.length === 0) return
  const named = running.map(({ kind, pools, host, pid }) => `${[kind, ...pools].join(' ')} (${host}:${pid})`).join(', ')
  throw problem(
    'PRECONDITION_FAILED',
    `Processes had a heartbeat on this database within the last 30 s: ${named}. In an installation that is in use, this command stops all ` +
      'mail, charges and calls. If DATABASE_URL names the restored copy: stop its processes, wait 30 s, or add --yes',
  )
}
