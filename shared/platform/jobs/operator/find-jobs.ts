import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { viewAttempts } from '#shared/platform/jobs/operations/attempts.ts'
import { checkFilter, type JobFilter, type JobSort, jobsByName } from '#shared/platform/jobs/operator/filter.ts'
import { type JobDetail, type JobView, type jobPage, manyMore, type RelatedView } from '#shared/platform/jobs/operator/schemas.ts'
import { findReasons } from '#shared/platform/jobs/operator/why.ts'
import {
  type DescribedJob,
  describeJobs,
  findChildren,
  findDetail,
  findEnvelope,
  findPlaces,
  findRelated,
  maxChildren,
  type RelatedJob,
} from '#shared/platform/jobs/pgboss/operator/describe.ts'
import {
  countMatches,
  type FoundJob,
  findPage,
  type JobPosition,
  maxCounted,
  readsCauses,
} from '#shared/platform/jobs/pgboss/operator/search.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'

/** What reads: statements of operators need no transaction. */
type Reader = Pick<Executor, 'query'>

/** A page of jobs. */
export interface FoundPage extends Omit<TypeOf<typeof jobPage>, 'next_cursor'> {
  /** The position after which the next page begins; null on the last one. */
  readonly next: JobPosition | null
}

interface PageOrder {
  readonly sort?: JobSort | undefined
  readonly after?: JobPosition | undefined
  readonly limit: number
}

/** The names of the kinds that have no operations. */
export const untrackedNames = (jobs: readonly AnyJob[]): string[] => jobs.flatMap(({ name, tracked }) => (tracked ? [] : [name]))

/**
 * Finds tracked jobs of 30 days, and jobs of other kinds that wait, are held or failed, in all workspaces. Throws VALIDATION_ERROR for a kind
 * that is not declared. For operators only: nothing limits it to what one workspace may see.
 */
export async function findJobs(
  db: Reader,
  jobs: readonly AnyJob[],
  filter: JobFilter,
  { sort = '-created_at', after, limit }: PageOrder,
): Promise<FoundPage> {
  const search = { filter: checkFilter(jobs, filter), untracked: untrackedNames(jobs), sort }
  // A search by cause reads the same jobs for few matches as for all, so the first page counts them too.
  const most = after === undefined && readsCauses(search) ? maxCounted + 1 : limit + 1
  const found = await db.query(findPage({ ...search, after }, most))
  // Fewer than could be read are all.
  const isWhole = after === undefined && (found.length < most || most > maxCounted)
  const count = isWhole ? found.length : ((await firstRow(db, countMatches(search, maxCounted + 1)))?.count ?? 0)
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    jobs: await viewJobs(db, jobs, page),
    total: count > maxCounted ? manyMore : count,
    next: found.length > limit && last ? { created_at: last.created_at, id: last.id } : null,
  }
}

async function viewJobs(db: Reader, jobs: readonly AnyJob[], found: readonly FoundJob[]): Promise<JobView[]> {
  const described = await describeJobs(db, found)
  const byName = jobsByName(jobs)
  const reasons = await findReasons(db, byName, described)
  return described.map((one) => viewJob(one, byName, reasons))
}

function viewJob(
  { id, name, state, workspace_id, principal_id, request_id, error_code, error_message, created_at, progress }: DescribedJob,
  jobs: ReadonlyMap<string, AnyJob>,
  reasons: ReadonlyMap<string, string>,
): JobView {
  return {
    id,
    kind: name,
    pool: jobs.get(name)?.pool ?? null,
    state,
    workspace: workspace_id,
    principal: principal_id,
    request_id,
    error: error_code === null ? null : { code: error_code, message: error_message ?? '' },
    created_at,
    progress,
    why: reasons.get(id) ?? null,
  }
}

/** Finds one job. Throws NOT_FOUND. */
export async function findJob(db: Reader, jobs: readonly AnyJob[], id: string): Promise<JobDetail> {
  const found = await readJob(db, jobs, id)
  if (!found) throw problem('NOT_FOUND', `There is no job ${id}: it never was, or it is no longer kept`)
  return found
}

/** Finds one job; undefined when it is not kept. */
export async function readJob(db: Reader, jobs: readonly AnyJob[], id: string): Promise<JobDetail | undefined> {
  const [place] = isUuid(id) ? await findPlaces(db, [id], untrackedNames(jobs)) : []
  const [view] = place ? await viewJobs(db, jobs, [place]) : []
  if (!place || !view) return undefined
  const job = jobsByName(jobs).get(place.name)
  if (place.place !== 'operation') {
    const kept = await firstRow(db, findEnvelope(place))
    const parent = await relatedOf(db, kept?.envelope?.cause.jobId)
    return {
      ...view,
      payload: visiblePayload(job, kept?.envelope?.payload),
      attempts: [],
      caused_by: parent,
      caused: [],
      caused_more: false,
    }
  }
  const detail = await firstRow(db, findDetail(id))
  const children = await db.query(findChildren(id))
  const error = detail?.error_message === null || detail === undefined ? null : { message: detail.error_message }
  return {
    ...view,
    payload: visiblePayload(job, detail?.envelope?.payload),
    attempts: detail ? viewAttempts(detail.attempts, { finished_at: detail.finished_at, error }) : [],
    caused_by: await relatedOf(db, detail?.parent_id),
    caused: children.slice(0, maxChildren).map(viewRelated),
    caused_more: children.length > maxChildren,
  }
}

async function relatedOf(db: Reader, id: string | null | undefined): Promise<RelatedView | null> {
  const row = id ? await firstRow(db, findRelated(id)) : undefined
  return row ? viewRelated(row) : null
}

const viewRelated = ({ id, name, state }: RelatedJob): RelatedView => ({ id, kind: name, state })

export const hidden = '[hidden]'

/** A payload without the values of keys that its job does not declare as visible. */
function visiblePayload(job: AnyJob | undefined, payload: unknown): Record<string, unknown> | null {
  if (typeof payload !== 'object' || payload === null) return null
  const visible = new Set(job?.visible)
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, visible.has(key) ? value : hidden]))
}
