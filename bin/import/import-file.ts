import { type ColumnMap, parseColumnMap } from '#shared/core/records/csv/column-map.ts'
import type { ImportQuery } from '#shared/core/records/csv/schemas.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { formatCount } from '../client/progress-bar.ts'
import type { ApiTarget } from '../client/target.ts'
import { makeTypeKey } from './keys.ts'
import { type ExistingField, type ImportedColumn, importedColumns, type Proposal, proposeType } from './propose.ts'
import { type FailedRow, sendRows } from './send.ts'
import { surveyFile } from './survey.ts'

export interface ImportOptions extends Omit<ImportQuery, 'dry_run'> {
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

/** Numbers of rows. */
export interface Counts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly failed: number
}

export interface Imported {
  readonly proposal: Proposal
  /** Undefined for a dry run without rows to judge: the type is new, or no column fills a field that it has. */
  readonly counts: Counts | undefined
}

/**
 * Surveys a CSV file, creates the missing type and fields, and sends the rows. A dry run creates nothing: it lets the API judge the cells of the
 * fields that exist. When it fails part way, the message includes the number of rows imported before.
 */
export async function importFile(target: ApiTarget, options: ImportOptions, progress: ImportProgress): Promise<Imported> {
  const { api, orgId } = target
  const { file, type = makeTypeKey(file), dryRun } = options
  const proposal = await proposeFor(api, orgId, type, options)
  progress.proposed(proposal)
  const columns = importedColumns(proposal).filter(({ plan }) => !dryRun || plan === 'fill')
  if (dryRun && columns.length === 0) return { proposal, counts: undefined }
  if (!dryRun) await prepareType(api, orgId, proposal, options.upsert_by)
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  const written = () => counts.created + counts.updated
  try {
    for await (const part of sendRows(api, orgId, { path: file, proposal, columns, query: queryOf(options, columns) })) {
      counts.created += part.created
      counts.updated += part.updated
      counts.unchanged += part.unchanged
      counts.failed += part.failed.length
      progress.advanced(counts.created + counts.updated + counts.unchanged + counts.failed, part.failed)
    }
  } catch (error) {
    const isPartial = !dryRun && written() > 0
    throw isPartial ? withProgress(error, `${formatCount(written())} of ${formatCount(proposal.rows)} rows are imported`) : error
  }
  return { proposal, counts }
}

/** The query of the import of these columns. The command has already applied `map`. */
function queryOf({ upsert_by: key, decimal, dates, dryRun }: ImportOptions, columns: readonly ImportedColumn[]): URLSearchParams {
  // In a dry run the key's field may not exist yet: every row would then create a record.
  const parameters = { upsert_by: columns.some((column) => column.key === key) ? key : undefined, decimal, dates }
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(dryRun ? [...given, ['dry_run', 'true']] : given)
}

/** Proposes a type for a file, using the fields of the type if it exists. Changes nothing. */
async function proposeFor(api: Api, orgId: string, typeKey: string, options: ImportOptions): Promise<Proposal> {
  const { file, decimal, dates, map, upsert_by: key } = options
  const columnMap: ColumnMap = map === undefined ? new Map() : parseColumnMap(map)
  // The zone does not matter here: it decides the instant of a date and time, not whether a cell is one.
  const survey = await surveyFile(file, { decimal, dates, timeZone: 'UTC' })
  const types = await api.get<readonly { key: string }[]>(`/orgs/${orgId}/types`)
  const exists = types.some((type) => type.key === typeKey)
  const query = new URLSearchParams({ entity_type: typeKey })
  const existing = exists ? await api.get<readonly ExistingField[]>(`/orgs/${orgId}/fields?${query}`) : undefined
  const proposal = proposeType(survey, { typeKey, existing, map: columnMap })
  if (key !== undefined) requireKeyColumn(proposal, existing ?? [], key)
  return proposal
}

/** Throws VALIDATION_ERROR unless a column fills the field of `--upsert-by`, which is unique or will be created. */
function requireKeyColumn(proposal: Proposal, existing: readonly ExistingField[], key: string): void {
  const column = importedColumns(proposal).find((one) => one.key === key)
  if (!column) throw problem('VALIDATION_ERROR', `--upsert-by must be the key of a field that a column of the file fills, got ${key}`)
  const field = existing.find((one) => one.key === key)
  if (field && !field.unique) throw problem('VALIDATION_ERROR', `--upsert-by must be the key of a unique field, got ${key}`)
}

/** Creates the missing type and fields of a proposal; that of `--upsert-by` is unique. */
async function prepareType(api: Api, orgId: string, proposal: Proposal, upsertBy: string | undefined): Promise<void> {
  const { key, label, isNew } = proposal.type
  if (isNew) await api.post(`/orgs/${orgId}/types`, { json: { key, label } })
  for (const column of importedColumns(proposal)) {
    if (column.plan !== 'create') continue
    const rules = column.type === 'select' ? { options: column.column.options } : {}
    const field = { entity_type: key, key: column.key, label: column.label, type: column.type, unique: column.key === upsertBy, rules }
    await api.post(`/orgs/${orgId}/fields`, { json: field })
  }
}

const withProgress = (error: unknown, done: string): Error =>
  error instanceof Problem
    ? problem(error.code, `${error.message}; ${done}`, { cause: error })
    : new Error(`${(error as Error).message}; ${done}`, { cause: error })
