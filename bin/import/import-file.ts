import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import { formatCount } from '../client/progress-bar.ts'
import type { ApiTarget } from '../client/target.ts'
import { makeTypeKey } from './keys.ts'
import { prepareType, proposeFor } from './prepare.ts'
import type { Proposal } from './propose.ts'
import { type FailedRow, sendRows } from './send.ts'
import { surveyFile } from './survey.ts'

export interface ImportOptions {
  readonly file: string
  /** Key of the type; by default derived from the file name. */
  readonly type?: string | undefined
  readonly dryRun: boolean
}

/** Callbacks that report progress. */
export interface ImportProgress {
  readonly proposed: (proposal: Proposal) => void
  readonly advanced: (done: number, failed: readonly FailedRow[]) => void
}

export interface Imported {
  readonly proposal: Proposal
  readonly created: number
  readonly failed: number
}

/**
 * Surveys a CSV file, creates the missing type and fields, and sends the rows; a dry run only surveys and proposes. When it fails part way,
 * the message includes the number of rows imported before.
 */
export async function importFile(target: ApiTarget, { file, type, dryRun }: ImportOptions, progress: ImportProgress): Promise<Imported> {
  const { api, orgId } = target
  const proposal = await proposeFor(api, orgId, type ?? makeTypeKey(file), await surveyFile(file))
  progress.proposed(proposal)
  let [created, failed] = [0, 0]
  if (dryRun) return { proposal, created, failed }
  await prepareType(api, orgId, proposal)
  try {
    for await (const part of sendRows(api, orgId, file, proposal)) {
      created += part.created
      failed += part.failed.length
      progress.advanced(created + failed, part.failed)
    }
  } catch (error) {
    throw created === 0 ? error : withProgress(error, `${formatCount(created)} of ${formatCount(proposal.rows)} rows are imported`)
  }
  return { proposal, created, failed }
}

const withProgress = (error: unknown, done: string): Error =>
  error instanceof Problem
    ? problem(error.code, `${error.message}; ${done}`, { cause: error })
    : new Error(`${(error as Error).message}; ${done}`, { cause: error })
