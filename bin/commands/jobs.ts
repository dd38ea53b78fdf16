import { recordAction } from '#shared/core/operators/log.ts'
import { jobs } from '#shared/features.ts'
import {
  countQueuedJobs,
  type DeadLetter,
  type DeadLetterFilter,
  discardDeadLetter,
  listDeadLetters,
  type QueueLoad,
  resendDeadLetter,
} from '#shared/platform/jobs/pgboss/dead-letters.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { dayMs, hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'
import { apiCommand, command } from '../command.ts'
import type { CommandScope } from '../command-scope.ts'
import { formatTable } from '../table.ts'
import { workspaceScope } from '../workspaces.ts'

/** One line with the counts that are not zero; no line when all are zero. */
const loadLines = ({ job, ...counts }: QueueLoad & { failed: number }): string[] => {
  const parts = (['waiting', 'running', 'failed'] as const).flatMap((state) => (counts[state] > 0 ? [`${counts[state]} ${state}`] : []))
  return parts.length === 0 ? [] : [`${job.padEnd(longestName)}  ${parts.join(', ')}`]
}
const longestName = Math.max(...jobs.map(({ name }) => name.length))

/** The most failed jobs that are listed one by one without --json. */
const maxListed = 50

const failureCells = ({ id, job, workspace, workspace_id, attempts, error, failed_at, answered }: DeadLetter) => [
  id,
  job,
  workspace ?? workspace_id ?? '(no workspace)',
  failed_at,
  `${attempts} tries`,
  answered ? 'answered' : '',
  error ?? 'no reason is known',
]

/** Numbers of failed jobs by kind and error, most first. */
function sumFailures(failed: readonly DeadLetter[]) {
  const groups = Map.groupBy(failed, ({ job, error }) => JSON.stringify([job, error]))
  const sums = [...groups.values()].map((letters) => ({
    job: letters[0]?.job ?? '',
    error: letters[0]?.error ?? null,
    count: letters.length,
    answered: letters.filter(({ answered }) => answered).length,
    workspaces: new Set(letters.map(({ workspace_id }) => workspace_id)).size,
    first_failed_at: letters[0]?.failed_at ?? null,
    last_failed_at: letters.at(-1)?.failed_at ?? null,
  }))
  return sums.toSorted((a, b) => b.count - a.count)
}

function failureLines(failed: readonly DeadLetter[]): string[] {
  if (failed.length === 0) return []
  const sums = sumFailures(failed).map(({ count, answered, job, workspaces, error }) => [
    `${count} ×`,
    job,
    `${workspaces} ${workspaces === 1 ? 'workspace' : 'workspaces'}`,
    answered > 0 ? `${answered} answered` : '',
    error ?? 'no reason is known',
  ])
  const newest = failed.slice(-maxListed)
  const more = failed.length - newest.length
  return [
    '',
    'Failed, by kind and error:',
    ...formatTable(sums),
    '',
    more > 0 ? `The newest ${newest.length} of ${failed.length} (--json lists all):` : 'Failed:',
    ...formatTable(newest.map(failureCells)),
  ]
}

/** Options that choose jobs. */
const selection = {
  kind: t.Optional(t.String({ description: 'name of the job, such as records.import; kontor jobs lists them' })),
  workspace: t.Optional(t.String({ description: 'id or name of the workspace' })),
  since: t.Optional(t.String({ description: 'an instant (2026-01-31T12:00:00Z), or how long ago: 30m, 2h, 7d' })),
}

const selectors = {
  id: t.Optional(t.String({ description: 'id of the job, as jobs list shows it' })),
  all: t.Optional(t.Boolean({ description: 'all failed jobs' })),
  ...selection,
}
const discardOptions = schema(t.Object(selectors))
type Selection = TypeOf<typeof discardOptions>

async function readSelection(platform: CommandScope, { id, kind, workspace, since }: Selection): Promise<DeadLetterFilter> {
  if (kind !== undefined && !jobs.some(({ name }) => name === kind)) {
    throw problem('VALIDATION_ERROR', `${kind} is no kind of job; kontor jobs lists them`)
  }
  if (id !== undefined && !isUuid(id)) throw problem('NOT_FOUND', `No job ${id} failed at its last attempt`)
  const workspaceId = workspace === undefined ? undefined : (await workspaceScope(platform, workspace)).workspace.id
  return { id, kind, workspaceId, since: since === undefined ? undefined : readSince(since, platform.now()) }
}

const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** Reads an instant, or a duration before now. Throws VALIDATION_ERROR for any other text. */
function readSince(text: string, now: Date): Date {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return new Date(now.getTime() - Number(count) * unitMs[unit as keyof typeof unitMs])
  const at = toUtcInstant(text)
  if (at === undefined)
    throw problem('VALIDATION_ERROR', `since must be an instant such as 2026-01-31T12:00:00Z, or 30m, 2h, 7d, got ${text}`)
  return new Date(at)
}

/** The failed jobs that a retry or a discard means: one by its id, all, or those of kind, workspace and time. */
async function selectFailed(platform: CommandScope, given: Selection): Promise<DeadLetter[]> {
  const { id, all = false, kind, workspace, since } = given
  const isNarrowed = kind !== undefined || workspace !== undefined || since !== undefined
  if ([id !== undefined, all, isNarrowed].filter((isGiven) => isGiven).length !== 1) {
    throw problem('VALIDATION_ERROR', 'Name one job by its id, or give --all, or some of --kind, --workspace and --since')
  }
  const failed = await listDeadLetters(platform.db, await readSelection(platform, given))
  if (id !== undefined && failed.length === 0) throw problem('NOT_FOUND', `No job ${id} failed at its last attempt`)
  return failed
}

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
    summary: 'Show how many jobs wait and run, and the jobs whose last attempt failed, with sums by kind and error',
    options: schema(t.Object(selection)),
    run: async (given, platform) => {
      const { db } = platform
      const filter = await readSelection(platform, given)
      const [loads, failed] = [await countQueuedJobs(db, filter), await listDeadLetters(db, filter)]
      const queues = jobs
        .filter(({ name }) => filter.kind === undefined || filter.kind === name)
        .map(({ name, pool }) => {
          const { waiting = 0, running = 0 } = loads.find(({ job }) => job === name) ?? {}
          return { job: name, pool, waiting, running, failed: failed.filter(({ job }) => job === name).length }
        })
      const lines = [...queues.flatMap(loadLines), ...failureLines(failed)]
      const data = { queues, failures: sumFailures(failed), failed }
      return { data, lines: lines.length > 0 ? lines : ['No jobs are waiting, running or failed.'] }
    },
  }),
  command({
    name: 'jobs retry',
    summary: 'Retry jobs whose last attempt failed',
    options: schema(
      t.Object({
        ...selectors,
        also_answered: t.Optional(
          t.Boolean({
            description: 'also those whose caller was told of the failure: a caller that has repeated its call gets the effect twice',
          }),
        ),
      }),
    ),
    run: async ({ also_answered = false, ...given }, platform) => {
      const letters = await selectFailed(platform, given)
      const outcomes = { sent: [] as string[], answered: [] as string[], gone: [] as string[] }
      for (const { id, job } of letters) {
        const outcome = await platform.db.transaction(async (tx) => {
          const resent = await resendDeadLetter(tx, platform.jobQueue, jobs, id, { alsoAnswered: also_answered })
          if (resent === 'sent') await recordAction(tx, platform.operator, 'jobs.retry', { job: id, kind: job })
          return resent
        })
        outcomes[outcome].push(id)
      }
      const { sent, answered } = outcomes
      const skipped = `Skipped, since the caller was told of the failure: ${answered.join(', ')}. --also-answered retries these too.`
      return {
        data: { retried: sent, skipped_answered: answered },
        lines: [`Retried: ${sent.join(', ') || 'none'}`, ...(answered.length > 0 ? [skipped] : [])],
        failed: given.id !== undefined && sent.length === 0,
      }
    },
  }),
  command({
    name: 'jobs discard',
    summary: 'Forget jobs whose last attempt failed; their operations stay failed',
    options: discardOptions,
    run: async (given, platform) => {
      const discarded: string[] = []
      for (const { id, job } of await selectFailed(platform, given)) {
        await platform.db.transaction(async (tx) => {
          if (!(await discardDeadLetter(tx, id))) return
          await recordAction(tx, platform.operator, 'jobs.discard', { job: id, kind: job })
          discarded.push(id)
        })
      }
      return { data: { discarded }, lines: [`Discarded: ${discarded.join(', ') || 'none'}`] }
    },
  }),
]
