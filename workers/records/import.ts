import { type Scope, within } from '#shared/access/scope.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { discardFile, readFile } from '#shared/queue/files.ts'
import { type CsvRow, readCsv } from '#shared/records/csv/read.ts'
import { importRow, requireColumns } from '#shared/records/import-row.ts'
import { importRecords } from '#shared/records/jobs.ts'
import { withRecordType } from '#shared/records/picture.ts'
import { handler } from '#workers/handler.ts'

/** Data rows in one file; more is refused before anything is created (document 1, Limits). */
export const maxRows = 500

/** Rows that are created, and recorded as done, in one transaction: a killed worker's successor goes on behind them. */
const rowsPerStep = 50

interface Progress {
  readonly done: number
  readonly created: number
  readonly errors: readonly { readonly row: number; readonly message: string }[]
}

export default handler(importRecords, async ({ payload: { typeKey, fileId }, scope, checkpoint, advance, commit }) => {
  const total = await countRows(scope, typeKey, fileId)
  let progress = (checkpoint ?? { done: 0, created: 0, errors: [] }) as Progress
  for await (const { header, rows } of stepsOf(scope, fileId, progress.done)) {
    progress = await withRecordType(scope, typeKey, (type) =>
      scope.db.transaction(async (tx) => {
        const inside = within(scope, tx)
        const columns = requireColumns(type, header)
        const next = { done: progress.done + rows.length, created: progress.created, errors: [...progress.errors] }
        for (const row of rows) {
          const message = 'error' in row ? row.error : await refusalOf(importRow(inside, type, columns, row.cells))
          if (message === undefined) next.created += 1
          else next.errors.push({ row: row.row, message })
        }
        await advance({ done: next.done, total }, next, inside)
        return next
      }),
    )
  }
  return commit(async ({ db }) => {
    await discardFile(db, fileId)
    return { result: { created: progress.created, failed: progress.errors.length, errors: [...progress.errors] } }
  })
})

/** Reads the file once to its end, so that a bad header, a file that stops being CSV and too many rows are told before anything is created. */
async function countRows(scope: Scope, typeKey: string, fileId: string): Promise<number> {
  const { header, rows } = await readCsv(readFile(scope.db, fileId))
  await withRecordType(scope, typeKey, async (type) => requireColumns(type, header))
  let count = 0
  for await (const _ of rows) {
    count += 1
    if (count > maxRows) throw problem('VALIDATION_ERROR', `file must have at most ${maxRows} data rows`)
  }
  return count
}

/** The rows behind those that are done, a step at a time. */
async function* stepsOf(
  scope: Scope,
  fileId: string,
  done: number,
): AsyncGenerator<{ header: readonly string[]; rows: readonly CsvRow[] }> {
  const { header, rows } = await readCsv(readFile(scope.db, fileId))
  let step: CsvRow[] = []
  let position = 0
  for await (const row of rows) {
    position += 1
    if (position <= done) continue
    step.push(row)
    if (step.length < rowsPerStep) continue
    yield { header, rows: step }
    step = []
  }
  if (step.length > 0) yield { header, rows: step }
}

/** What is wrong with a row, when it is the row's own fault; a fault of ours is thrown on. */
async function refusalOf(creation: Promise<unknown>): Promise<string | undefined> {
  try {
    await creation
    return undefined
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error.message
    throw error
  }
}
