import { ignoredColumns, importRows, matchColumns, type RefusedRow } from '#shared/core/records/csv/import-rows.ts'
import { readCsv } from '#shared/core/records/csv/read.ts'
import { groupRows } from '#shared/core/records/csv/row-groups.ts'
import { importRecordsJob } from '#shared/core/records/jobs.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { discardJobFile, readJobFile } from '#shared/platform/jobs/job-files.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import type { Attempt } from '#workers/platform/jobs/handler.ts'

/** Maximum data rows in one file. A larger file is refused before anything is created (docs/contract/records.md#files). */
const maxImportRows = 500

/** Maximum rows (`items`) and characters (`size`) of a transaction, which saves a checkpoint too. Also bounds the memory of an import. */
const stepSize = { items: 100, size: 250_000 }

/** Checkpoint of an import: the number of rows done, and those among them that were refused. */
interface Progress {
  readonly done: number
  readonly errors: readonly RefusedRow[]
}

type Work = Omit<Attempt<{ readonly typeKey: string; readonly fileId: string }, unknown, Scope>, 'commit'>

export default defineHandler(importRecordsJob, async ({ commit, ...work }) => {
  const { scope, payload } = work
  try {
    const { count, ignored } = await surveyFile(work)
    const { done, errors } = await importFile(work, count)
    return await commit(async ({ db }) => {
      await discardJobFile(db, scope.workspace.id, payload.fileId)
      return { result: { created: done - errors.length, failed: errors.length, errors: [...errors], ignored_columns: ignored } }
    })
  } catch (error) {
    // A refused import is not retried, so its file is discarded. Other errors are retried and need the file.
    if (error instanceof Problem && error.status < 500) await discardJobFile(scope.db, scope.workspace.id, payload.fileId)
    throw error
  }
})

/** Reads the whole file once, so that a bad header, invalid CSV and too many rows are refused before anything is created. */
async function surveyFile({ scope, payload: { typeKey, fileId } }: Work): Promise<{ count: number; ignored: string[] }> {
  const file = await readJobFile(scope, scope.workspace.id, fileId)
  try {
    const { header, rows } = await readCsv(file)
    const type = await requireRecordType(scope, typeKey)
    const ignored = ignoredColumns(header, matchColumns(header, type.fields))
    let count = 0
    for await (const _ of rows) {
      count += 1
      if (count > maxImportRows) throw problem('VALIDATION_ERROR', `file must have at most ${maxImportRows} data rows`)
    }
    return { count, ignored }
  } finally {
    file.destroy()
  }
}

/** Imports the rows after the checkpoint, each step in one transaction with its new checkpoint. */
async function importFile({ scope, payload: { typeKey, fileId }, signal, checkpoint, advance }: Work, total: number): Promise<Progress> {
  let progress = (checkpoint ?? { done: 0, errors: [] }) as Progress
  await advance({ done: progress.done, total })
  const file = await readJobFile(scope, scope.workspace.id, fileId)
  try {
    const { header, rows } = await readCsv(file)
    for await (const step of groupRows(rows, progress.done, stepSize)) {
      signal.throwIfAborted()
      const type = await requireRecordType(scope, typeKey)
      progress = await scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const refused = await importRows(inside, type, matchColumns(header, type.fields), step)
        const next = { done: progress.done + step.length, errors: [...progress.errors, ...refused] }
        await advance({ done: next.done, total }, next, inside)
        return next
      })
    }
    return progress
  } finally {
    file.destroy()
  }
}
