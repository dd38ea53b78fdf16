import { consoleAddress } from '#api/access/operator-session.ts'
import { buttonForm, consolePage, formatTime, formTokenOf, queryAddress, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { describeState, type StateText } from '#api/core/operators/jobs/describe-state.ts'
import { jobAddress, jobTitle, linkWorkspaces } from '#api/core/operators/jobs/job-links.ts'
import { renderTable, textColumn } from '#api/core/operators/table.ts'
import { ids } from '#api/http/example-ids.ts'
import { page } from '#api/http/route.ts'
import { formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operateJob } from '#shared/core/operators/act-on-jobs.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import { createReader, type PlatformScope } from '#shared/core/scope/scope.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import type { JobAction } from '#shared/platform/jobs/operator/act.ts'
import { findJob, readJob } from '#shared/platform/jobs/operator/find-jobs.ts'
import { findFittingActions } from '#shared/platform/jobs/operator/fitting.ts'
import type { JobDetail, RelatedView } from '#shared/platform/jobs/operator/schemas.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

interface Link {
  readonly text: string
  readonly address?: string
  /** What is said after the link. */
  readonly more?: string
}

interface JobPageView {
  readonly here: string
  readonly state: StateText
  readonly progress: JobDetail['progress']
  /** Whether the page changes by itself, so that it is worth loading it again. */
  readonly isOpen: boolean
  readonly mayAct: boolean
  readonly actions: readonly { readonly action: JobAction; readonly label: string; readonly about: string }[]
  readonly isAnswered: boolean
  readonly formToken: string
  readonly parts: readonly (readonly [name: string, link: Link])[]
  /** Null when it is no longer kept. */
  readonly payload: readonly (readonly [key: string, value: string])[] | null
  readonly attempts: string
  readonly causedBy: Link | null
  readonly caused: readonly Link[]
  readonly hasCausedMore: boolean
}
const renderJob = template<JobPageView>(new URL('job.eta', import.meta.url))

const actions: Readonly<Record<JobAction, { readonly label: string; readonly about: string }>> = {
  retry: { label: 'Retry', about: 'It continues from its last checkpoint.' },
  cancel: { label: 'Cancel', about: 'It fails with CANCELLED, and who waits for it is told so. What it has committed stays.' },
  discard: { label: 'Discard', about: 'It counts as cancelled, and cannot be retried any more.' },
}

/** The page of a job with its actions. Throws NOT_FOUND when there is none. */
async function jobPage(scope: PlatformScope, jobs: readonly AnyJob[], id: string, failure?: Problem): Promise<Page> {
  const db = createReader(scope)
  const job = await findJob(db, jobs, id)
  const fitting = await findFittingActions(db, jobs, job)
  const content = renderJob({
    here: jobAddress(scope, job.id),
    state: describeState(scope, job),
    progress: job.progress,
    isOpen: ['waiting', 'held', 'running'].includes(job.state),
    mayAct: !operatorOf(scope).isReadOnly,
    actions: fitting.actions.map((action) => ({ action, ...actions[action] })),
    isAnswered: fitting.isAnswered,
    formToken: formTokenOf(scope),
    parts: await partsOf(scope, job),
    payload:
      job.payload && Object.entries(job.payload).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
    attempts: attemptsOf(job, jobs.find(({ name }) => name === job.kind)?.tracked ?? false),
    causedBy: job.caused_by && relatedLink(scope, job.caused_by),
    caused: job.caused.map((one) => relatedLink(scope, one)),
    hasCausedMore: job.caused_more,
  })
  return showConsole(scope, { title: jobTitle(job), place: 'jobs', content, failure })
}

const relatedLink = (scope: PlatformScope, related: RelatedView): Link => ({
  text: jobTitle(related),
  address: jobAddress(scope, related.id),
  more: related.state,
})

async function partsOf(scope: PlatformScope, job: JobDetail): Promise<JobPageView['parts']> {
  const workspace = (await linkWorkspaces(scope, [job.workspace]))(job.workspace)
  const search = (query: Readonly<Record<string, string>>) => queryAddress(scope, 'jobs', query)
  return [
    ['Id', { text: job.id }],
    ['Kind', { text: job.kind, address: consoleAddress(scope.config, `kinds/${job.kind}`), ...(job.pool && { more: `pool ${job.pool}` }) }],
    ['Workspace', workspace],
    [
      'Principal',
      job.principal === null ? { text: 'the platform' } : { text: job.principal, address: search({ principal: job.principal }) },
    ],
    ['Request', job.request_id === '' ? { text: 'none' } : { text: job.request_id, address: search({ request_id: job.request_id }) }],
    ['Filed', { text: formatTime(job.created_at) }],
  ]
}

const attemptsOf = ({ attempts }: JobDetail, isTracked: boolean): string =>
  renderTable({
    label: 'Attempts',
    empty: isTracked ? 'None has begun.' : 'Those of this kind are not kept.',
    columns: ['Began', 'Ended', 'Worker', 'Error'].map(textColumn),
    rows: attempts.map(({ started_at, ended_at, worker, error }) => [
      formatTime(started_at),
      ended_at === null ? 'not yet' : formatTime(ended_at),
      worker,
      error ?? 'none',
    ]),
  }).text

/** The pages of one job; `jobs` are the declared ones. */
export function createJobPages(jobs: readonly AnyJob[]) {
  /** Acts on a job, then leads back to its page, or to its kind where it is no longer kept; the page says why an action was refused. */
  const act = async (scope: PlatformScope, action: JobAction, id: string, alsoAnswered = false) => {
    try {
      const { kind } = await operateJob(scope, jobs, action, id, { alsoAnswered })
      const isKept = (await readJob(scope.db, jobs, id)) !== undefined
      return seeOther(isKept ? jobAddress(scope, id) : queryAddress(scope, 'jobs', { kind }))
    } catch (error) {
      if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return jobPage(scope, jobs, id, error)
      throw error
    }
  }
  const acting = { ...consolePage, method: 'POST', fails: ['NOT_FOUND'], statuses: [303] } as const
  const example = { params: { id: ids.job }, body: formToken }
  return [
    page({
      ...consolePage,
      method: 'GET',
      path: '/operator/jobs/:id',
      summary: 'Show a job to operators',
      description: 'Why it waits, its attempts, what it was given, what caused it and what it caused, with buttons to act on it.',
      example: { params: { id: ids.job }, file: 'records.export #0e18ec' },
      handle: ({ params }, scope) => jobPage(scope, jobs, params.id),
    }),
    page({
      ...acting,
      path: '/operator/jobs/:id/retry',
      summary: 'Retry a failed job by its page',
      description: 'As the route of operators does.',
      example: { params: { id: ids.job }, body: { also_answered: 'true', ...formToken } },
      form: schema(
        t.Object(
          { also_answered: t.Optional(t.Literal('true', { description: 'The checkbox.' })), ...formTokenInput },
          { title: 'ConsoleRetry' },
        ),
      ),
      handle: ({ params: { id }, body }, scope) => act(scope, 'retry', id, body.get('also_answered') === 'true'),
    }),
    page({
      ...acting,
      path: '/operator/jobs/:id/cancel',
      summary: 'Cancel a job by its page',
      description: 'As the route of operators does.',
      example,
      form: buttonForm,
      handle: ({ params: { id } }, scope) => act(scope, 'cancel', id),
    }),
    page({
      ...acting,
      path: '/operator/jobs/:id/discard',
      summary: 'Discard a failed job by its page',
      description: 'As the route of operators does.',
      example,
      form: buttonForm,
      handle: ({ params: { id } }, scope) => act(scope, 'discard', id),
    }),
  ]
}
