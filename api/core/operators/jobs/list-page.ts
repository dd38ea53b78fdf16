import { consoleAddress } from '#api/access/operator-session.ts'
import { consolePage, formatTime, queryAddress, showConsole } from '#api/core/operators/console.ts'
import { listJobs } from '#api/core/operators/job-routes.ts'
import { formatReason } from '#api/core/operators/jobs/describe-state.ts'
import { filledTexts, fillFields, filterFields, filterParameters, readFilter } from '#api/core/operators/jobs/filter-form.ts'
import { jobAddress, jobTitle, linkWorkspaces } from '#api/core/operators/jobs/job-links.ts'
import { renderTable, shortColumn, textColumn } from '#api/core/operators/table.ts'
import { page } from '#api/http/route.ts'
import { type Field, renderFields, withErrors } from '#api/pages/fields/field.ts'
import { failedField, fieldErrors } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type JobAction, jobActions } from '#shared/platform/jobs/operator/act.ts'
import { jobSorts } from '#shared/platform/jobs/operator/filter.ts'
import { fittingStates } from '#shared/platform/jobs/operator/fitting.ts'
import type { JobView } from '#shared/platform/jobs/operator/schemas.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

interface JobsView {
  readonly here: string
  readonly fields: string
  readonly ids: string
  readonly times: string
  /** Whether the fields of ids and times are shown: one of them is filled. */
  readonly isOpen: boolean
  /** The jobs; empty text where the filter is wrong. */
  readonly result: string
}
const renderJobs = template<JobsView>(new URL('jobs.eta', import.meta.url))

interface ResultView {
  readonly total: string
  readonly table: string
  readonly more: string
  readonly act: string
  /** The filter that the buttons send on. */
  readonly texts: readonly (readonly [name: string, text: string])[]
  readonly actions: readonly { readonly action: JobAction; readonly label: string }[]
}
const renderResult = template<ResultView>(new URL('found-jobs.eta', import.meta.url))

const listQuery = schema(
  t.Object({
    ...filterParameters,
    sort: t.Optional(t.String({ description: `${jobSorts.join(' or ')}, the default.` })),
    ...cursorParameters(),
  }),
)
type ListQuery = TypeOf<typeof listQuery>

/** The order without another one. */
const defaultSort = '-created_at'

const sortInput = schema(t.Object({ sort: t.Enum(jobSorts) }))

/** The most characters of an error that the list shows; the page of the job shows all. */
const maxShown = 120

const shorten = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text)

const labels: Readonly<Record<JobAction, string>> = {
  retry: 'Retry all that have failed',
  cancel: 'Cancel all that wait, are held or run',
  discard: 'Discard all that have failed',
}

/** The page of the jobs that a query finds; the form keeps a query that does not fit, and says why. */
async function jobsPage(scope: PlatformScope, jobs: readonly AnyJob[], query: ListQuery): Promise<Page> {
  const show = (fields: ReturnType<typeof filterFields>, result: string, failure?: Problem): Page => {
    const fill = (some: readonly Field[]) => withErrors(fillFields(some, query), errorsOf(some, failure))
    const [ids, times] = [fill(fields.ids), fill(fields.times)]
    const content = renderJobs({
      here: consoleAddress(scope.config, 'jobs'),
      fields: renderFields(fill(fields.first)).text,
      ids: renderFields(ids).text,
      times: renderFields(times).text,
      isOpen: [...ids, ...times].some(({ name, values }) => values?.[0] !== (name === 'sort' ? defaultSort : '')),
      result,
    })
    const isBesideField = failedField(Object.values(fields).flat(), failure) !== undefined
    return showConsole(scope, { title: 'Jobs', place: 'jobs', content, failure, isBesideField })
  }
  const fields = filterFields(jobs)
  try {
    return show(fields, await findResult(scope, jobs, query))
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return show(fields, '', error)
    throw error
  }
}

/** The error of one of these fields; a failure of no field is shown above the form. */
const errorsOf = (fields: readonly Field[], failure: Problem | undefined) =>
  failedField(fields, failure) ? fieldErrors(fields, failure) : {}

async function findResult(scope: PlatformScope, jobs: readonly AnyJob[], query: ListQuery): Promise<string> {
  const { cursor, limit, sort } = query
  const filter = readFilter(query, scope.now())
  const order = sort ? sortInput.parse({ sort }) : {}
  const found = await listJobs(jobs, scope, { ...filter, ...order, ...(cursor !== undefined && { cursor }), limit })
  const table = await tableOf(scope, found.jobs, cursor === undefined)
  const { state } = filter
  const fits = (action: JobAction) => state === undefined || fittingStates[action].includes(state)
  const mayAct = !operatorOf(scope).isReadOnly && found.total !== 0
  return renderResult({
    total: countText(found.total),
    table,
    // A cursor is for the parameters as they came, empty ones too.
    more: found.next_cursor === null ? '' : queryAddress(scope, 'jobs', { ...query, cursor: found.next_cursor }),
    act: consoleAddress(scope.config, 'jobs/act'),
    texts: Object.entries(filledTexts(query)).map(([name, text]) => [name, text ?? '']),
    actions: mayAct ? jobActions.filter(fits).map((action) => ({ action, label: labels[action] })) : [],
  }).text
}

const countText = (total: number | string): string => {
  if (total === 1) return '1 job matches.'
  return total === 0 ? '' : `${typeof total === 'number' ? total.toLocaleString('en') : total} jobs match.`
}

async function tableOf(scope: PlatformScope, found: readonly JobView[], isFirst: boolean): Promise<string> {
  const workspaceOf = await linkWorkspaces(
    scope,
    found.map(({ workspace }) => workspace),
  )
  return renderTable({
    label: 'Jobs',
    empty: isFirst ? 'No job matches. Jobs that are done are found for 30 days where callers can track them.' : 'There are no more.',
    columns: [textColumn('Job'), shortColumn('State'), ...['Why it waits, or its error', 'Workspace', 'Filed'].map(textColumn)],
    rows: found.map((job) => [
      { text: jobTitle(job), address: jobAddress(scope, job.id) },
      { text: job.state, more: job.progress ? `${job.progress.done} of ${job.progress.total}` : undefined },
      job.why !== null ? formatReason(job.why) : job.error ? shorten(`${job.error.code}: ${job.error.message}`) : '',
      workspaceOf(job.workspace),
      formatTime(job.created_at),
    ]),
  }).text
}

/** The page of the jobs of all workspaces; `jobs` are the declared ones. */
export const createJobListPage = (jobs: readonly AnyJob[]) =>
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/jobs',
    summary: 'Show the jobs of all workspaces',
    description: 'Those that a filter finds, with a form for it. A filter that does not fit is answered with 400 and the form.',
    example: { query: { kind: 'records.export', state: 'failed' }, file: 'Jobs' },
    query: listQuery,
    handle: ({ query }, scope) => jobsPage(scope, jobs, query),
  })
