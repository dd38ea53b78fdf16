import { answer } from '#api/http/route.ts'
import { changePause } from '#shared/core/operators/pauses.ts'
import { pauseChange } from '#shared/core/operators/schemas.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

const common = {
  method: 'POST',
  tag: 'Operators',
  app: null,
  permission: 'operator',
  limit: null,
  status: 200,
  response: pauseChange,
} as const

/** The routes that pause and resume the declared jobs and their pools. */
export const createPauseRoutes = (jobs: readonly AnyJob[]) => [
  answer({
    ...common,
    path: '/operator/jobs/kinds/:kind/pause',
    summary: 'Pause a kind of jobs',
    description: 'Within 2 s no process starts another job of the kind. What runs ends. VALIDATION_ERROR when it is paused or cannot be.',
    example: { params: { kind: 'queues.clear' }, answer: { target: 'kind', name: 'queues.clear', paused: true, kinds: ['queues.clear'] } },
    handle: ({ params }, scope) => changePause(scope, jobs, 'jobs.pause', { target: 'kind', name: params.kind }),
  }),
  answer({
    ...common,
    path: '/operator/jobs/kinds/:kind/resume',
    summary: 'Resume a paused kind of jobs',
    description: 'Its waiting jobs start, unless its pool is paused. VALIDATION_ERROR when the kind is not paused by itself.',
    example: { params: { kind: 'queues.clear' }, answer: { target: 'kind', name: 'queues.clear', paused: false, kinds: ['queues.clear'] } },
    handle: ({ params }, scope) => changePause(scope, jobs, 'jobs.resume', { target: 'kind', name: params.kind }),
  }),
  answer({
    ...common,
    path: '/operator/pools/:pool/pause',
    summary: 'Pause a pool',
    description: 'Like a pause of each of its kinds. Kinds that cannot be paused go on. VALIDATION_ERROR when the pool is paused.',
    example: { params: { pool: 'schedule' }, answer: { target: 'pool', name: 'schedule', paused: true, kinds: ['due.wake'] } },
    handle: ({ params }, scope) => changePause(scope, jobs, 'jobs.pause', { target: 'pool', name: params.pool }),
  }),
  answer({
    ...common,
    path: '/operator/pools/:pool/resume',
    summary: 'Resume a paused pool',
    description: 'Kinds that are paused by themselves stay paused. VALIDATION_ERROR when the pool is not paused.',
    example: { params: { pool: 'schedule' }, answer: { target: 'pool', name: 'schedule', paused: false, kinds: ['due.wake'] } },
    handle: ({ params }, scope) => changePause(scope, jobs, 'jobs.resume', { target: 'pool', name: params.pool }),
  }),
]
