import { jobs } from '#shared/features.ts'
import {
  countQueuedJobs,
  type DeadLetter,
  listDeadLetters,
  type QueueLoad,
  resendDeadLetter,
} from '#shared/platform/jobs/pgboss/dead-letters.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'
import { apiCommand, command } from '../command.ts'
import { formatTable } from '../table.ts'

/** One line with the counts that are not zero; no line when all are zero. */
const loadLines = ({ job, ...counts }: QueueLoad & { failed: number }): string[] => {
  const parts = (['waiting', 'running', 'failed'] as const).flatMap((state) => (counts[state] > 0 ? [`${counts[state]} ${state}`] : []))
  return parts.length === 0 ? [] : [`${job.padEnd(longestName)}  ${parts.join(', ')}`]
}
const longestName = Math.max(...jobs.map(({ name }) => name.length))

const failureLine = ({ id, job, attempts, error, failed_at }: DeadLetter): string =>
  `${id}  ${job} failed ${failed_at} after ${attempts} tries: ${error ?? 'no reason is known'}`

export const jobCommands = [
  apiCommand({
    name: 'jobs',
    summary: 'Show the kinds of jobs: pool, how many run at once, retries, time limit',
    options: schema(t.Object({})),
    run: async () => {
      const order = [...jobs].sort((a, b) => (a.pool + a.name < b.pool + b.name ? -1 : 1))
      const kinds = order.map(({ name, pool, concurrency, slotsPerWorkspace, retry, timeoutSeconds, tracked, kind }) => ({
        pool,
        job: name,
        'at once': concurrency,
        'per workspace': slotsPerWorkspace ?? null,
        retries: `${retry.limit} × ${retry.delaySeconds} s`,
        'time limit': `${timeoutSeconds} s`,
        operation: tracked ? kind : null,
      }))
      return { data: { kinds }, lines: formatTable([Object.keys(kinds[0] ?? {}), ...kinds.map((row) => Object.values(row))]) }
    },
  }),
  command({
    name: 'jobs list',
    summary: 'Show how many jobs wait and run, and the jobs whose last attempt failed',
    options: schema(t.Object({})),
    run: async (_, { db }) => {
      const [loads, failed] = [await countQueuedJobs(db), await listDeadLetters(db)]
      const queues = jobs.map(({ name, pool }) => {
        const { waiting = 0, running = 0 } = loads.find(({ job }) => job === name) ?? {}
        return { job: name, pool, waiting, running, failed: failed.filter(({ job }) => job === name).length }
      })
      const lines = [...queues.flatMap(loadLines), ...failed.map(failureLine)]
      return { data: { queues, failed }, lines: lines.length > 0 ? lines : ['No jobs are waiting, running or failed.'] }
    },
  }),
  command({
    name: 'jobs retry',
    summary: 'Retry jobs whose last attempt failed',
    options: schema(
      t.Object({
        id: t.Optional(t.String({ description: 'id of the job, as jobs list shows it' })),
        all: t.Optional(t.Boolean({ description: 'retry all of these jobs' })),
      }),
    ),
    run: async ({ id, all = false }, { db, jobQueue }) => {
      if ((id === undefined) !== all) throw problem('VALIDATION_ERROR', 'Name one job by its id, or give --all')
      const ids = id === undefined ? (await listDeadLetters(db)).map((letter) => letter.id) : [id]
      const retried: string[] = []
      for (const jobId of ids) if (isUuid(jobId) && (await resendDeadLetter(db, jobQueue, jobs, jobId))) retried.push(jobId)
      if (id !== undefined && retried.length === 0) throw problem('NOT_FOUND', `No job ${id} failed at its last attempt`)
      return { data: { retried }, lines: [`Retried: ${retried.join(', ') || 'none'}`] }
    },
  }),
]
