import { consolePage, formatTime, formTokenOf, queryAddress, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { type FilterTexts, filledTexts, filterParameters, readFilter } from '#api/core/operators/jobs/filter-form.ts'
import { jobAddress, linkWorkspaces } from '#api/core/operators/jobs/job-links.ts'
import { readQuery } from '#api/http/request/query.ts'
import { page } from '#api/http/route.ts'
import { formTokenInput } from '#api/pages/fields/form.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operateJobs } from '#shared/core/operators/act-on-jobs.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import { createReader, type PlatformScope } from '#shared/core/scope/scope.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { type JobAction, jobActions } from '#shared/platform/jobs/operator/act.ts'
import { boundFilter, countMatching } from '#shared/platform/jobs/operator/act-on-all.ts'
import type { JobFilter } from '#shared/platform/jobs/operator/filter.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

interface ActView {
  readonly here: string
  readonly back: string
  readonly count: number
  readonly text: string
  readonly about: string
  readonly action: JobAction
  readonly label: string
  /** The filter in words. */
  readonly parts: readonly (readonly [name: string, value: string])[]
  /** The filter as the form sends it. */
  readonly texts: readonly (readonly [name: string, text: string])[]
  readonly mayAct: boolean
  readonly formToken: string
}
const renderAct = template<ActView>(new URL('act.eta', import.meta.url))

const words: Readonly<Record<JobAction, { readonly label: string; readonly done: string; readonly about: string }>> = {
  retry: {
    label: 'Retry',
    done: 'retried',
    about: 'Each continues from its last checkpoint. Those whose caller was told of the failure are left out, unless you include them.',
  },
  cancel: {
    label: 'Cancel',
    done: 'cancelled',
    about:
      'Each fails with CANCELLED, and who waits for it is told so. What they have committed stays. Kinds that cannot be cancelled are left out.',
  },
  discard: { label: 'Discard', done: 'discarded', about: 'They count as cancelled, and cannot be retried any more.' },
}

const actionInput = schema(t.Object({ action: t.Enum(jobActions) }))

const actProperties = {
  action: t.Enum(jobActions),
  expect: t.Integer({ minimum: 0, description: 'The number of jobs that the page showed.' }),
  also_answered: t.Optional(t.Boolean({ description: 'The checkbox.' })),
}
const actInput = schema(t.Object(actProperties))

const countText = (count: number): string => (count === 1 ? '1 job' : `${count.toLocaleString('en')} jobs`)

/**
 * The page that shows how many jobs an action to a filter means, before it is done. Its form sends the filter with its end in time and the
 * number, so that what the operator has seen is acted on, and no later job.
 */
async function actPage(
  scope: PlatformScope,
  jobs: readonly AnyJob[],
  action: JobAction,
  texts: FilterTexts,
  failure?: Problem,
): Promise<Page> {
  const filter = boundFilter(jobs, action, readFilter(texts, scope.now()), scope.now())
  const count = await countMatching(createReader(scope), jobs, action, filter)
  const { label, done, about } = words[action]
  const content = renderAct({
    here: queryAddress(scope, 'jobs/act', {}),
    back: queryAddress(scope, 'jobs', filledTexts(texts)),
    count,
    text: `${countText(count)} would be ${done}`,
    about,
    action,
    label: `${label} ${countText(count)}`,
    parts: await describeFilter(scope, filter),
    texts: Object.entries(filter).map(([name, text]) => [name, text]),
    mayAct: !operatorOf(scope).isReadOnly,
    formToken: formTokenOf(scope),
  })
  return showConsole(scope, { title: `${label} all that match`, place: 'jobs', content, failure })
}

const names: Readonly<Record<keyof JobFilter, string>> = {
  kind: 'Kind',
  state: 'State',
  workspace: 'Workspace',
  principal: 'Principal',
  request_id: 'Request',
  error: 'Part of the error',
  from: 'Filed since',
  to: 'Filed before',
}

async function describeFilter(scope: PlatformScope, filter: JobFilter): Promise<ActView['parts']> {
  const { workspace } = filter
  const nameOf = await linkWorkspaces(scope, [workspace ?? null])
  const shown = {
    ...filter,
    ...(workspace !== undefined && { workspace: `${nameOf(workspace).text} (${workspace})` }),
    ...(filter.from !== undefined && { from: formatTime(filter.from) }),
    ...(filter.to !== undefined && { to: formatTime(filter.to) }),
  }
  return Object.entries(shown).map(([name, text]) => [names[name as keyof JobFilter], text])
}

/** The pages of an action to all jobs that match; `jobs` are the declared ones. */
export const createActPages = (jobs: readonly AnyJob[]) => [
  page({
    ...consolePage,
    method: 'GET',
    path: '/operator/jobs/act',
    summary: 'Show how many jobs an action means',
    description: 'Counts all that the filter finds and the action fits, with a form to do it.',
    example: { query: { action: 'discard', kind: 'records.export', error: 'file store' }, file: 'Discard all that match' },
    query: schema(t.Object({ action: t.Optional(t.String({ description: `${jobActions.join(', ')}.` })), ...filterParameters })),
    handle: ({ query: { action, ...texts } }, scope) => actPage(scope, jobs, actionInput.parse({ action }).action, texts),
  }),
  page({
    ...consolePage,
    method: 'POST',
    path: '/operator/jobs/act',
    summary: 'Act on all jobs that match by a page',
    description: 'As the route of operators does; leads to the page of the job that does it.',
    example: { body: { action: 'discard', kind: 'records.export', error: 'file store', expect: 120, ...formToken } },
    form: schema(t.Object({ ...actProperties, ...filterParameters, ...formTokenInput }, { title: 'ConsoleAction' })),
    statuses: [303],
    handle: async ({ body }, scope) => {
      const texts: FilterTexts = Object.fromEntries(body)
      const { action, expect, also_answered: alsoAnswered } = readQuery(Object.fromEntries(body), actInput)
      try {
        const filter = readFilter(texts, scope.now())
        return seeOther(jobAddress(scope, await operateJobs(scope, jobs, { action, filter, alsoAnswered }, expect)))
      } catch (error) {
        if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return actPage(scope, jobs, action, texts, error)
        throw error
      }
    },
  }),
]
