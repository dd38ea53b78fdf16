import { createKeyIndex, type ImportPlan, planImport, type RepeatedRows } from '#shared/core/records/csv/import-plan.ts'
import { importRows } from '#shared/core/records/csv/import-rows.ts'
import { type CsvRow, readCsv } from '#shared/core/records/csv/read.ts'
import { groupRows } from '#shared/core/records/csv/row-groups.ts'
import type { RefusedRow } from '#shared/core/records/csv/schemas.ts'
import { importRecordsJob } from '#shared/core/records/jobs.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { discardJobFile, readJobFile } from '#shared/platform/jobs/job-files.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import type { Attempt } from '#workers/platform/jobs/handler.ts'

/** Maximum data rows in one file. A larger file is refused before anything is created (docs/contract/records.md#files). */
const maxImportRows = 500

/** Maximum rows (`items`) and characters (`size`) of a transaction, which saves a checkpoint too. Also bounds the memory of an import. */
const stepSize = { items: 100, size: 250_000 }

/** Checkpoint of an import: the number of rows done, and what became of those that created no record. */
interface Progress {
  readonly done: number
  readonly updated: number
  readonly unchanged: number
  readonly errors: readonly RefusedRow[]
}

const noProgress: Progress = { done: 0, updated: 0, unchanged: 0, errors: [] }

type Work = Omit<Attempt<TypeOf<typeof importRecordsJob.payload>, unknown, Scope>, 'commit'>

export default defineHandler(importRecordsJob, async ({ commit, ...work }) => {
  const { scope, payload } = work
  try {
    const survey = await surveyFile(work)
    const { done, updated, unchanged, errors } = await (payload.query?.dry_run ? judgeFile(work, survey) : importFile(work, survey))
    const created = done - updated - unchanged - errors.length
    return await commit(async ({ db }) => {
      await discardJobFile(db, scope.workspace.id, payload.fileId)
      const result = { created, updated, unchanged, failed: errors.length, errors: [...errors], ignored_columns: [...survey.ignored] }
      return { result }
    })
  } catch (error) {
    // A refused import is not retried, so its file is discarded. Other errors are retried and need the file.
    if (error instanceof Problem && error.status < 500) await discardJobFile(scope.db, scope.workspace.id, payload.fileId)
    throw error
  }
})

/** What one reading of the whole file tells. */
interface Survey {
  readonly count: number
  readonly ignored: readonly string[]
  readonly repeated: RepeatedRows
}

/** Reads the whole file once, so that a bad header, invalid CSV and too many rows are refused before anything is created. */
async function surveyFile(work: Work): Promise<Survey> {
  return readFile(work, async (header, rows) => {
    const plan = await planFor(work.scope, work, header)
    const keys = createKeyIndex(plan)
    let count = 0
    for await (const row of rows) {
      count += 1
      if (count > maxImportRows) throw problem('VALIDATION_ERROR', `file must have at most ${maxImportRows} data rows`)
      if ('cells' in row) keys.add(row.row, row.cells)
    }
    return { count, ignored: plan.ignored, repeated: keys.repeated }
  })
}

/** Imports the rows after the checkpoint, each step in one transaction with its new checkpoint. */
async function importFile(work: Work, { count: total, repeated }: Survey): Promise<Progress> {
  const { scope, signal, checkpoint, advance } = work
  // Checkpoints of earlier releases know no updates.
  let progress: Progress = { ...noProgress, ...(checkpoint as Progress | undefined) }
  await advance({ done: progress.done, total })
  return readFile(work, async (header, rows) => {
    for await (const step of groupRows(rows, progress.done, stepSize)) {
      signal.throwIfAborted()
      progress = await scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const next = await importStep(inside, work, header, step, repeated, progress)
        await advance({ done: next.done, total }, next, inside)
        return next
      })
    }
    return progress
  })
}

/** Thrown at the end of a dry run to roll it back. */
class RolledBack extends Error {}

/**
 * Imports all rows in one transaction that is always rolled back, so that each row is judged by what the rows before it wrote. Numbers are
 * read and not taken.
 */
async function judgeFile(work: Work, { count: total, repeated }: Survey): Promise<Progress> {
  const { scope, signal, advance } = work
  let progress = noProgress
  await advance({ done: 0, total })
  try {
    await scope.db.transaction(async (tx) => {
      const inside: Scope = { ...within(scope, tx), peekedNumbers: new Map() }
      progress = await readFile({ ...work, scope: inside }, async (header, rows) => {
        let judged = noProgress
        for await (const step of groupRows(rows, 0, stepSize)) {
          signal.throwIfAborted()
          judged = await importStep(inside, work, header, step, repeated, judged)
        }
        return judged
      })
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  await advance({ done: total, total })
  return progress
}

async function importStep(
  inside: Scope,
  work: Work,
  header: readonly string[],
  rows: readonly CsvRow[],
  repeated: RepeatedRows,
  progress: Progress,
): Promise<Progress> {
  const type = await requireRecordType(inside, work.payload.typeKey)
  const { updated, unchanged, refused } = await importRows(
    inside,
    type,
    planImport(inside, type, header, work.payload.query ?? {}),
    rows,
    repeated,
  )
  return {
    done: progress.done + rows.length,
    updated: progress.updated + updated,
    unchanged: progress.unchanged + unchanged,
    errors: [...progress.errors, ...refused],
  }
}

const planFor = async (scope: Scope, { payload }: Work, header: readonly string[]): Promise<ImportPlan> =>
  planImport(scope, await requireRecordType(scope, payload.typeKey), header, payload.query ?? {})

/** Opens the file and releases it after the work. */
async function readFile<T>(
  { scope, payload: { fileId } }: Work,
  work: (header: readonly string[], rows: AsyncIterable<CsvRow>) => Promise<T>,
): Promise<T> {
  const file = await readJobFile(scope, scope.workspace.id, fileId)
  try {
    const { header, rows } = await readCsv(file)
    return await work(header, rows)
  } finally {
    file.destroy()
  }
}
