import { buffer } from 'node:stream/consumers'
import { within } from '#shared/core/scope/scope.ts'
import { fileBudget } from '#shared/features/calendar/budget.ts'
import { type ImportWarning, readIcs } from '#shared/features/calendar/ics/read-file.ts'
import { importEvents, requireImportCalendar } from '#shared/features/calendar/import-export/import-events.ts'
import { importCalendarJob } from '#shared/features/calendar/jobs.ts'
import { discardJobFile, findJobFile, readJobFile } from '#shared/platform/jobs/job-files.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'

/** UIDs that are written and checkpointed in one transaction. After a crash, the next attempt continues after them. */
const uidsPerStep = 100
/** UIDs in one transaction for a calendar without overlaps, which stays locked while each event is compared with all others. */
const uidsPerStepWithoutOverlaps = 10
const maxWarnings = 100

/** The progress of an import: UIDs done, in order of the file, and their result. */
interface Progress {
  readonly done: number
  readonly created: number
  readonly updated: number
  readonly skipped: number
  readonly warnings: readonly ImportWarning[]
}

const noProgress: Progress = { done: 0, created: 0, updated: 0, skipped: 0, warnings: [] }

export default defineHandler(importCalendarJob, async ({ scope, payload: { calendarId, fileId }, signal, checkpoint, advance, commit }) => {
  try {
    const calendar = await requireImportCalendar(scope, calendarId)
    const file = await findJobFile(scope.db, scope.workspace.id, fileId)
    const bytes = await buffer(await readJobFile(scope, scope.workspace.id, fileId))
    const { sets, warnings, unreadCount } = await readIcs(bytes, calendar.timezone, {
      contentType: file?.content_type ?? '',
      budget: fileBudget(scope),
    })
    let progress = (checkpoint ?? noProgress) as Progress
    await advance({ done: progress.done, total: sets.length })
    while (progress.done < sets.length) {
      signal.throwIfAborted()
      const part = sets.slice(progress.done, progress.done + (calendar.settings.no_overlap ? uidsPerStepWithoutOverlaps : uidsPerStep))
      progress = await scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const counts = await importEvents(inside, calendar, part)
        const next: Progress = {
          done: progress.done + part.length,
          created: progress.created + counts.created,
          updated: progress.updated + counts.updated,
          skipped: progress.skipped + counts.skipped,
          warnings: [...progress.warnings, ...counts.warnings],
        }
        await advance({ done: next.done, total: sets.length }, next, inside)
        return next
      })
    }
    return await commit(async ({ db }) => {
      await discardJobFile(db, scope.workspace.id, fileId)
      const { created, updated, skipped } = progress
      return {
        result: { created, updated, skipped: skipped + unreadCount, warnings: [...warnings, ...progress.warnings].slice(0, maxWarnings) },
      }
    })
  } catch (error) {
    // A server error is retried and needs the file; a refusal is not.
    if (error instanceof Problem && error.status < 500) await discardJobFile(scope.db, scope.workspace.id, fileId)
    throw error
  }
})
