import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { formatCount, progressBar } from '../client/progress-bar.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import { apiCommand, apiOptions, type CommandResult } from '../command.ts'
import { describeProposal, exampleQuery, ignoredColumnsOf, proposalAsJson } from '../import/describe.ts'
import { type ImportOptions, importFile } from '../import/import-file.ts'
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
        dry_run: t.Optional(t.Boolean({ description: 'shows what would be created, and creates nothing' })),
        ...apiOptions,
      }),
    ),
    run: ({ dry_run: dryRun = false, queue, batch, type, ...options }, shell) => {
      if (queue === undefined) return runImport({ dryRun, type, ...options }, shell)
      if (dryRun || type !== undefined) throw problem('VALIDATION_ERROR', '--queue goes with neither --type nor --dry-run')
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
  const { proposal, created, failed } = await importFile(target, options, {
    proposed(proposal) {
      if (!options.dryRun) shell.print([...describeProposal(proposal), ''])
      bar = progressBar(shell.terminal, proposal.rows, 'rows')
    },
    advanced(done, failedRows) {
      failures.push(...failedRows.slice(0, maxListedFailures - failures.length))
      bar.clear()
      shell.print(failedRows.map(({ row, message }) => `row ${row}: ${message.replace(/\p{Cc}+/gu, ' ')}`))
      bar.show(done)
    },
  })
  bar.clear()
  const seconds = Math.round(performance.now() - started) / 1000
  if (options.dryRun) return { data: { ...proposalAsJson(proposal), dry_run: true }, lines: describeProposal(proposal) }
  const example = exampleQuery(target, proposal)
  const ignored = ignoredColumnsOf(proposal)
  return {
    data: { ...proposalAsJson(proposal), created, failed, errors: failures, ignored_columns: ignored, seconds, example },
    lines: [
      `${formatCount(created)} of ${formatCount(proposal.rows)} rows imported in ${seconds} s${failed > 0 ? `, ${formatCount(failed)} failed` : ''}. Query them:`,
      `  ${example}`,
      ...(ignored.length > 0 ? [`Ignored columns: ${ignored.map((name) => name.replace(/\p{Cc}+/gu, ' ')).join(', ')}`] : []),
    ],
    failed: failed > 0,
  }
}
