import { formatCount, progressBar } from '../client/progress-bar.ts'
import { findTarget, type TargetOptions } from '../client/target.ts'
import type { CommandResult } from '../command.ts'
import type { Shell } from '../shell.ts'
import { describeProposal, exampleQuery, proposalAsJson } from './describe.ts'
import { type ImportOptions, importFile } from './import-file.ts'
import type { FailedRow } from './send.ts'

/** Maximum failed rows that the JSON lists; the count is always complete. */
const maxListedFailures = 1_000

/** Imports a file, shows progress in the shell and returns the summary. `failed` is true when any row failed. */
export async function runImport(options: ImportOptions & TargetOptions, shell: Shell): Promise<CommandResult> {
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
  return {
    data: { ...proposalAsJson(proposal), created, failed, errors: failures, seconds, example },
    lines: [
      `${formatCount(created)} of ${formatCount(proposal.rows)} rows imported in ${seconds} s${failed > 0 ? `, ${formatCount(failed)} failed` : ''}. Query them:`,
      `  ${example}`,
    ],
    failed: failed > 0,
  }
}
