import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { formatCount } from '../client/progress-bar.ts'
import type { ApiTarget } from '../client/target.ts'
import { makeTypeKey } from './keys.ts'
import { type ExistingField, importedColumns, type Proposal, proposeType } from './propose.ts'
import { type FailedRow, sendRows } from './send.ts'
import { type Survey, surveyFile } from './survey.ts'

export interface ImportOptions {
  readonly file: string
  /** Key of the type; by default derived from the file name. */
  readonly type?: string | undefined
  readonly dryRun: boolean
}

/** Callbacks that report progress. */
interface ImportProgress {
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

/** Proposes a type for a file, using the fields of the type if it exists. Changes nothing. */
async function proposeFor(api: Api, orgId: string, typeKey: string, survey: Survey): Promise<Proposal> {
  const types = await api.get<readonly { key: string }[]>(`/orgs/${orgId}/types`)
  const exists = types.some(({ key }) => key === typeKey)
  const query = new URLSearchParams({ entity_type: typeKey })
  return proposeType(survey, typeKey, exists ? await api.get<readonly ExistingField[]>(`/orgs/${orgId}/fields?${query}`) : undefined)
}

/** Creates the missing type and fields of a proposal. */
async function prepareType(api: Api, orgId: string, proposal: Proposal): Promise<void> {
  const { key, label, isNew } = proposal.type
  if (isNew) await api.post(`/orgs/${orgId}/types`, { json: { key, label } })
  for (const column of importedColumns(proposal)) {
    if (column.plan !== 'create') continue
    const rules = column.type === 'select' ? { options: column.column.options } : {}
    const field = { entity_type: key, key: column.key, label: column.label, type: column.type, rules }
    await api.post(`/orgs/${orgId}/fields`, { json: field })
  }
}

const withProgress = (error: unknown, done: string): Error =>
  error instanceof Problem
    ? problem(error.code, `${error.message}; ${done}`, { cause: error })
    : new Error(`${(error as Error).message}; ${done}`, { cause: error })
