import { consoleAddress } from '#api/access/operator-session.ts'
import { formatTime, queryAddress } from '#api/core/operators/console.ts'
import type { PlatformScope } from '#shared/core/scope/scope.ts'
import type { JobDetail } from '#shared/platform/jobs/operator/schemas.ts'

/** What a job is doing, for a person who asks why it is not done. */
export interface StateText {
  readonly tone: 'notice' | 'problem' | 'done'
  readonly headline: string
  readonly explanation: string
  /** Where to look next. */
  readonly link: { readonly text: string; readonly address: string } | null
}

/** Describes the state of a job: why it waits, how it failed. */
export function describeState(scope: PlatformScope, job: JobDetail): StateText {
  const { state, error, why } = job
  const base = { tone: 'notice', link: null } as const
  switch (state) {
    case 'waiting':
    case 'held':
      return { ...base, ...describeWait(scope, job, why ?? '') }
    case 'running':
      return { ...base, headline: 'It runs', explanation: 'A worker has taken it, or it waits for a job that it has caused.' }
    case 'done':
      return { ...base, tone: 'done', headline: 'It is done', explanation: '' }
    case 'failed':
      return { ...base, tone: 'problem', headline: `It failed: ${error?.code ?? 'INTERNAL'}`, explanation: error?.message ?? '' }
    case 'cancelled':
      return { ...base, headline: 'It is cancelled', explanation: error?.message ?? '' }
  }
}

/** The reason of a wait with its time as the console writes times. */
export const formatReason = (why: string): string =>
  why.replace(/^held until (\S+)$/, (_, until: string) => `held until ${formatTime(until)}`)

type WaitText = Omit<StateText, 'tone'>

/** Texts for the reasons of `why.ts` by how they begin. */
const waits: readonly (readonly [beginning: string, describe: (scope: PlatformScope, job: JobDetail) => Omit<WaitText, 'headline'>])[] = [
  [
    'paused',
    (scope, { kind }) => ({
      explanation: 'Its kind or its pool is paused. It starts once the pause has ended.',
      link: { text: 'The kind, with its pause', address: consoleAddress(scope.config, `kinds/${kind}`) },
    }),
  ],
  [
    'its workspace has',
    (scope, { kind, workspace }) => ({
      explanation: 'Its workspace runs as many of these jobs as one workspace may. It starts when one of them ends.',
      link: {
        text: 'What runs for the workspace',
        address: queryAddress(scope, 'jobs', { kind, workspace: workspace ?? undefined, state: 'running' }),
      },
    }),
  ],
  [
    'gate',
    (scope, { kind }) => ({
      explanation: 'All workers of its pool run as many jobs of its kind as they take. It starts when one of them ends.',
      link: { text: 'What runs of its kind', address: queryAddress(scope, 'jobs', { kind, state: 'running' }) },
    }),
  ],
  [
    'no worker of pool',
    (scope) => ({
      explanation: 'None of this pool has sent a heartbeat for 30 s. It starts once a worker is there.',
      link: { text: 'The processes', address: consoleAddress(scope.config, 'workers') },
    }),
  ],
  ['held until', () => ({ explanation: 'It waits for its next attempt, or for a part of the installation that is away.', link: null })],
  [
    'suspended',
    (scope, { workspace }) => ({
      explanation: 'Its workspace is suspended, or has switched off the app. It goes on once that has ended.',
      link: workspace === null ? null : { text: 'The workspace', address: consoleAddress(scope.config, `workspaces/${workspace}`) },
    }),
  ],
  [
    'others are before it',
    (scope, { kind }) => ({
      explanation: 'Workers take jobs that were filed earlier first.',
      link: { text: 'What waits of its kind', address: queryAddress(scope, 'jobs', { kind, state: 'waiting', sort: 'created_at' }) },
    }),
  ],
]

function describeWait(scope: PlatformScope, job: JobDetail, why: string): WaitText {
  const [, describe] = waits.find(([beginning]) => why.startsWith(beginning)) ?? []
  const reason = formatReason(why)
  const headline = reason.startsWith('held ') ? `It is ${reason}` : `${job.state === 'held' ? 'It is held' : 'It waits'}: ${reason}`
  return { headline, ...(describe?.(scope, job) ?? { explanation: '', link: null }) }
}
