import { buffer } from 'node:stream/consumers'
import { readIcs, type Warning } from '#shared/calendar/ics/read.ts'
import { importEvents, importInto } from '#shared/calendar/import.ts'
import { importCalendar } from '#shared/calendar/jobs.ts'
import { Problem } from '#shared/kernel/errors.ts'
import { discardFile, readFile } from '#shared/queue/files.ts'
import { within } from '#shared/scope/scope.ts'
import { handler } from '#workers/handler.ts'

/** UIDs that are written, and recorded as done, in one transaction: a killed worker's successor goes on behind them. */
const uidsPerStep = 100
/** The same in a calendar without overlaps, which is locked meanwhile and where each event is compared with all others. */
const uidsPerStepApart = 10
const mostWarnings = 100

/** How far an import has come: UIDs from the first, and what came of them. */
interface Progress {
  readonly done: number
  readonly created: number
  readonly updated: number
  readonly skipped: number
  readonly warnings: readonly Warning[]
}

const none: Progress = { done: 0, created: 0, updated: 0, skipped: 0, warnings: [] }

export default handler(importCalendar, async ({ scope, payload: { calendarId, fileId }, signal, checkpoint, advance, commit }) => {
  try {
    const calendar = await importInto(scope, calendarId)
    const { byUid, book, warnings, unread } = readIcs(await buffer(await readFile(scope, scope.workspace.id, fileId)), calendar.timezone)
    let progress = (checkpoint ?? none) as Progress
    await advance({ done: progress.done, total: byUid.length })
    while (progress.done < byUid.length) {
      signal.throwIfAborted()
      const part = byUid.slice(progress.done, progress.done + (calendar.settings.no_overlap ? uidsPerStepApart : uidsPerStep))
      progress = await scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const came = await importEvents(inside, calendar, part, book)
        const next: Progress = {
          done: progress.done + part.length,
          created: progress.created + came.created,
          updated: progress.updated + came.updated,
          skipped: progress.skipped + came.skipped,
          warnings: [...progress.warnings, ...came.warnings],
        }
        await advance({ done: next.done, total: byUid.length }, next, inside)
        return next
      })
    }
    return await commit(async ({ db }) => {
      await discardFile(db, scope.workspace.id, fileId)
      const { created, updated, skipped } = progress
      return {
        result: { created, updated, skipped: skipped + unread, warnings: [...warnings, ...progress.warnings].slice(0, mostWarnings) },
      }
    })
  } catch (error) {
    // What a fault of ours stopped is tried again and needs the file; what is refused is not.
    if (error instanceof Problem && error.status < 500) await discardFile(scope.db, scope.workspace.id, fileId)
    throw error
  }
})
