import { withRecordType } from '#shared/core/records/access.ts'
import { importRows, type RefusedRow, requireColumns } from '#shared/core/records/csv/import-rows.ts'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { groupRows } from '#shared/core/records/csv/row-groups.ts'
import { importRecordsJob } from '#shared/core/records/jobs.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { discardJobFile, readJobFile } from '#shared/platform/jobs/job-files.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { type Attempt, defineHandler } from '#workers/platform/jobs/handler.ts'

/** Data rows in one file; more is refused before anything is created (document 1, Limits). */
export const maxImportRows = 500

/** What is created, and recorded as done, in one transaction: a killed worker's successor goes on behind it, and memory holds no more. */
const stepSize = { rows: 100, characters: 250_000 }

/** How far an import has come: rows from the first, and those among them that were not created. */
interface Progress {
  readonly done: number
  readonly errors: readonly RefusedRow[]
}

type Work = Omit<Attempt<{ readonly typeKey: string; readonly fileId: string }, unknown, Scope>, 'commit'>

export default defineHandler(importRecordsJob, async ({ commit, ...work }) => {
  const { scope, payload } = work
  try {
    const { done, errors } = await importFile(work, await countRows(work))
    return await commit(async ({ db }) => {
      await discardJobFile(db, scope.workspace.id, payload.fileId)
      return { result: { created: done - errors.length, failed: errors.length, errors: [...errors] } }
    })
  } catch (error) {
    // What a fault of ours stopped is tried again and needs the file; what is refused is not.
    if (error instanceof Problem && error.status < 500) await discardJobFile(scope.db, scope.workspace.id, payload.fileId)
    throw error
  }
})

/** Reads the file once to its end, so that a bad header, a file that stops being CSV and too many rows are told before anything is created. */
async function countRows({ scope, payload: { typeKey, fileId } }: Work): Promise<number> {
  const file = await readJobFile(scope, scope.workspace.id, fileId)
  try {
    const { header, rows } = await readCsv(file)
    await withRecordType(scope, typeKey, async (type) => requireColumns(type, header))
    let count = 0
    for await (const _ of rows) {
      count += 1
      if (count > maxImportRows) throw problem('VALIDATION_ERROR', `file must have at most ${maxImportRows} data rows`)
    }
    return count
  } finally {
    file.destroy()
  }
}

/** Imports the rows behind the checkpoint, a step in a transaction with its own. */
async function importFile({ scope, payload: { typeKey, fileId }, signal, checkpoint, advance }: Work, total: number): Promise<Progress> {
  let progress = (checkpoint ?? { done: 0, errors: [] }) as Progress
  await advance({ done: progress.done, total })
  const file = await readJobFile(scope, scope.workspace.id, fileId)
  try {
    const { header, rows } = await readCsv(file)
    for await (const step of groupRows(rows, progress.done, stepSize)) {
      signal.throwIfAborted()
      progress = await withRecordType(scope, typeKey, (type) =>
        scope.db.transaction(async (tx) => {
          const inside = within(scope, tx)
          const refused = await importRows(inside, type, requireColumns(type, header), step)
          const next = { done: progress.done + step.length, errors: [...progress.errors, ...refused] }
          await advance({ done: next.done, total }, next, inside)
          return next
        }),
      )
    }
    return progress
  } finally {
    file.destroy()
  }
}
