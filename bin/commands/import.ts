import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { formatCount, progressBar } from '../client/progress-bar.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import { apiCommand, apiOptions, type CommandResult } from '../command.ts'
import { describeProposal, exampleQuery, ignoredColumnsOf, proposalAsJson } from '../import/describe.ts'
import { type Counts, type ImportOptions, importFile } from '../import/import-file.ts'
import type { FailedRow } from '../import/send.ts'
import { importItems } from '../queues/import-items.ts'
import type { Shell } from '../shell.ts'

export const importCommands = [
  apiCommand({
    name: 'import',
    summary: 'Create a record type from a CSV file and import its rows through the API',
    options: schema(
      t.Object({
        file: t.String({ description: 'a CSV file with a header row' }),
        type: t.Optional(t.String({ description: 'key of the record type; default: derived from the name of the file' })),
        queue: t.Optional(t.String({ description: 'key of a work queue that the rows fill as items, instead of a record type' })),
        batch: t.Optional(t.String({ description: 'with --queue: label of the items' })),
        dry_run: t.Optional(t.Boolean({ description: 'shows what would be created and changed, and writes nothing' })),
        ...apiOptions,
        // After the others, so that those keep their places as positional arguments.
        upsert_by: t.Optional(
          t.String({
            minLength: 1,
            description: 'key of a unique field: rows change the records that hold their values, others are created',
          }),
        ),
        map: t.Optional(t.String({ description: 'JSON such as {"Price": "price", "Notes": null}: columns with the keys of their fields' })),
        decimal: t.Optional(t.Enum(['.', ','], { description: 'decimal sign of the numbers; thousands may then be separated' })),
        dates: t.Optional(t.Enum(['ymd', 'dmy', 'mdy'], { description: 'order of year, month and day in the dates' })),
      }),
    ),
    run: ({ dry_run: dryRun = false, queue, batch, type, upsert_by, map, decimal, dates, ...options }, shell) => {
      const parameters = {
        ...(upsert_by !== undefined && { upsert_by }),
        ...(map !== undefined && { map }),
        ...(decimal !== undefined && { decimal }),
        ...(dates !== undefined && { dates }),
      }
      if (queue === undefined) return runImport({ dryRun, type, ...parameters, ...options }, shell)
      if (dryRun || type !== undefined || Object.keys(parameters).length > 0)
        throw problem('VALIDATION_ERROR', '--queue goes with none of --type, --upsert-by, --map, --decimal, --dates and --dry-run')
      return importItems({ queue, batch, ...options }, shell)
    },
  }),
]

/** Maximum failed rows that the JSON lists; the count is always complete. */
const maxListedFailures = 1_000

/** Imports a file, shows progress in the shell and returns the summary. `failed` is true when any row failed. */
async function runImport(options: ImportOptions & TargetOptions, shell: Shell): Promise<CommandResult> {
  const started = performance.now()
  const target = await findTarget(options, shell.environment)
  const failures: FailedRow[] = []
  let bar = progressBar(shell.terminal, 0, 'rows')
  const { proposal, counts } = await importFile(target, options, {
    proposed(proposal) {
      if (!options.dryRun) shell.print([...describeProposal(proposal), ''])
      bar = progressBar(shell.terminal, proposal.rows, 'rows')
    },
    advanced(done, failedRows) {
      failures.push(...failedRows.slice(0, maxListedFailures - failures.length))
      bar.clear()
      shell.print(failedRows.map(describeFailure))
      bar.show(done)
    },
  })
  bar.clear()
  const seconds = Math.round(performance.now() - started) / 1000
  const results = counts && { ...counts, errors: failures }
  const numbers = counts ? describeCounts(counts, options.upsert_by !== undefined) : ''
  const done = counts ? counts.created + counts.updated + counts.unchanged : 0
  const rows = `${formatCount(done)} of ${formatCount(proposal.rows)} rows`
  if (options.dryRun) {
    return {
      data: { ...proposalAsJson(proposal), ...results, dry_run: true },
      lines: [...describeProposal(proposal), ...(counts ? ['', `${rows} would be imported${numbers}.`] : [])],
      failed: counts !== undefined && counts.failed > 0,
    }
  }
  const example = exampleQuery(target, proposal)
  const ignored = ignoredColumnsOf(proposal)
  return {
    data: { ...proposalAsJson(proposal), ...results, ignored_columns: ignored, seconds, example },
    lines: [
      `${rows} imported in ${seconds} s${numbers}. Query them:`,
      `  ${example}`,
      ...(ignored.length > 0 ? [`Ignored columns: ${ignored.map(toOneLine).join(', ')}`] : []),
    ],
    failed: counts !== undefined && counts.failed > 0,
  }
}

const toOneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ')

const describeFailure = ({ row, column, message }: FailedRow): string =>
  toOneLine(`row ${row}${column === undefined ? '' : `, column ${column}`}: ${message}`)

/** The numbers of rows, as the end of a sentence: `: 5 created, 3 updated, 1 unchanged, 1 failed`, or `, 1 failed` when all others are created. */
function describeCounts({ created, updated, unchanged, failed }: Counts, isUpsert: boolean): string {
  const written = isUpsert ? `: ${formatCount(created)} created, ${formatCount(updated)} updated, ${formatCount(unchanged)} unchanged` : ''
  return failed > 0 ? `${written}, ${formatCount(failed)} failed` : written
}
