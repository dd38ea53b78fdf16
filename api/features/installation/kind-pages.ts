import { consoleAddress } from '#api/access/operator-session.ts'
import { buttonForm, consolePage, formTokenOf, queryAddress, seeOther, showConsole } from '#api/core/operators/console.ts'
import { formToken } from '#api/core/operators/examples.ts'
import { numberColumn as number, renderTable, shortColumn as short, textColumn as text } from '#api/core/operators/table.ts'
import { page } from '#api/http/route.ts'
import type { Page } from '#api/pages/page.ts'
import { template } from '#api/pages/template.ts'
import { operatorOf } from '#shared/core/operators/operators.ts'
import { changePause } from '#shared/core/operators/pauses.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import { describeKinds } from '#shared/platform/jobs/figures/kinds.ts'
import type { JobKind, Times } from '#shared/platform/jobs/figures/schemas.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { listPauses } from '#shared/platform/jobs/pauses/store.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'

interface KindView {
  readonly parts: readonly (readonly [name: string, value: string])[]
  /** Links to the jobs of the kind by their state. */
  readonly jobs: readonly { readonly text: string; readonly address: string }[]
  readonly mayAct: boolean
  readonly actions: readonly { readonly address: string; readonly label: string }[]
  readonly formToken: string
}
const renderKind = template<KindView>(new URL('kind.eta', import.meta.url))

const formatTimes = ({ p50, p95 }: Times): string => (p50 === null ? 'nothing counted' : `${p50} ms, 95 %: ${p95} ms`)

const formatUse = ({ full, limits }: JobKind): string => (full === null ? 'no worker' : `${Math.round(full * 100)} % of ${limits.in_all}`)

const formatTop = (kind: JobKind): string => kind.top_workspaces.map(({ name, id, attempts }) => `${name ?? id}: ${attempts}`).join(', ')

/** The states whose jobs are counted. */
const openStates = ['waiting', 'held', 'running', 'failed'] as const

/** How many jobs of a kind have a state, with a link to them where there are any. */
const countOf = (scope: PlatformScope, kind: JobKind, state: (typeof openStates)[number]) =>
  kind[state] === 0 ? 0 : { text: kind[state], address: queryAddress(scope, 'jobs', { kind: kind.kind, state }) }

/** The page of a kind with its actions. Throws NOT_FOUND for an unknown one. */
async function kindPage(scope: PlatformScope, jobs: readonly AnyJob[], name: string, failure?: Problem): Promise<Page> {
  const job = jobs.find((one) => one.name === name)
  const [kind] = job ? await describeKinds(scope.db, [job], scope.now()) : []
  if (!kind) throw problem('NOT_FOUND', 'There is no such kind of jobs')
  const pauses = await listPauses(scope.db)
  const isPaused = (target: 'kind' | 'pool', of: string) => pauses.some((pause) => pause.target === target && pause.name === of)
  const action = (place: string, what: string, paused: boolean) => ({
    address: consoleAddress(scope.config, `${place}/${paused ? 'resume' : 'pause'}`),
    label: `${paused ? 'Resume' : 'Pause'} ${what}`,
  })
  const content = renderKind({
    parts: [
      ['Pool', kind.pool],
      ['State', kind.paused ? 'paused' : 'not paused'],
      ['Longest wait', `${kind.oldest_seconds} s`],
      ['Done in the last hour', String(kind.done_hour)],
      ['Failed attempts in the last hour', String(kind.failed_attempts_hour)],
      ['Waited', formatTimes(kind.wait_ms)],
      ['Ran', formatTimes(kind.run_ms)],
      ['Slots in use', formatUse(kind)],
      ['Busiest workspaces of the last hour', formatTop(kind) || 'none'],
    ],
    jobs: openStates.map((state) => ({ text: `${kind[state]} ${state}`, address: queryAddress(scope, 'jobs', { kind: name, state }) })),
    mayAct: !operatorOf(scope).isReadOnly,
    actions: [
      ...(job?.pausable === false ? [] : [action(`kinds/${name}`, 'this kind', isPaused('kind', name))]),
      action(`kinds/${name}/pool`, `all of the pool ${kind.pool}`, isPaused('pool', kind.pool)),
    ],
    formToken: formTokenOf(scope),
  })
  return showConsole(scope, { title: name, place: 'kinds', content, failure })
}

const acting = { ...consolePage, method: 'POST', fails: ['NOT_FOUND'], statuses: [303], form: buttonForm } as const

/** The pages about kinds of jobs; `jobs` are the declared jobs. */
export function createKindPages(jobs: readonly AnyJob[]) {
  /** Pauses or resumes, then leads back to the page of the kind; the page says why an action was refused. */
  const change = async (scope: PlatformScope, action: 'jobs.pause' | 'jobs.resume', target: 'kind' | 'pool', kind: string) => {
    const name = target === 'kind' ? kind : (jobs.find((one) => one.name === kind)?.pool ?? kind)
    try {
      await changePause(scope, jobs, action, { target, name })
      return seeOther(consoleAddress(scope.config, `kinds/${kind}`))
    } catch (error) {
      if (error instanceof Problem && error.code === 'VALIDATION_ERROR') return kindPage(scope, jobs, kind, error)
      throw error
    }
  }
  const example = { params: { kind: 'queues.clear' }, body: formToken }
  return [
    page({
      ...consolePage,
      method: 'GET',
      path: '/operator/kinds',
      summary: 'Show the kinds of jobs',
      description: 'With what waits and runs now. The page of each has the times and busiest workspaces of the last hour.',
      example: { file: 'Kinds of jobs' },
      handle: async (_, scope) => {
        const kinds = await describeKinds(scope.db, jobs, scope.now())
        const content = renderTable({
          label: 'Kinds of jobs',
          empty: 'There is no kind of job.',
          columns: [
            ...[text('Kind'), short('Pool'), number('Waiting'), number('Held'), number('Running'), number('Failed'), number('Oldest')],
            ...[number('Done in an hour'), number('Slots in use')],
          ],
          rows: kinds.map((kind) => [
            { text: kind.kind, address: consoleAddress(scope.config, `kinds/${kind.kind}`) },
            kind.paused ? `${kind.pool}, paused` : kind.pool,
            ...openStates.map((state) => countOf(scope, kind, state)),
            ...[`${kind.oldest_seconds} s`, kind.done_hour, formatUse(kind)],
          ]),
        })
        return showConsole(scope, { title: 'Kinds of jobs', place: 'kinds', content, isLive: true })
      },
    }),
    page({
      ...consolePage,
      method: 'GET',
      path: '/operator/kinds/:kind',
      summary: 'Show a kind of jobs',
      description: 'With buttons to pause and resume it, or its pool.',
      example: { params: { kind: 'queues.clear' }, file: 'queues.clear' },
      handle: ({ params }, scope) => kindPage(scope, jobs, params.kind),
    }),
    page({
      ...acting,
      path: '/operator/kinds/:kind/pause',
      summary: 'Pause a kind of jobs by its page',
      description: 'As the route of operators does.',
      example,
      handle: ({ params }, scope) => change(scope, 'jobs.pause', 'kind', params.kind),
    }),
    page({
      ...acting,
      path: '/operator/kinds/:kind/resume',
      summary: 'Resume a kind of jobs by its page',
      description: 'As the route of operators does.',
      example,
      handle: ({ params }, scope) => change(scope, 'jobs.resume', 'kind', params.kind),
    }),
    page({
      ...acting,
      path: '/operator/kinds/:kind/pool/pause',
      summary: 'Pause the pool of a kind of jobs by its page',
      description: 'As the route of operators does.',
      example,
      handle: ({ params }, scope) => change(scope, 'jobs.pause', 'pool', params.kind),
    }),
    page({
      ...acting,
      path: '/operator/kinds/:kind/pool/resume',
      summary: 'Resume the pool of a kind of jobs by its page',
      description: 'As the route of operators does.',
      example,
      handle: ({ params }, scope) => change(scope, 'jobs.resume', 'pool', params.kind),
    }),
  ]
}
