import { jobs } from '#shared/features.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import type { WorkerPool } from '#shared/platform/jobs/job.ts'
import { pausableKinds, pauseKind, pausePool, resumeKind, resumePool } from '#shared/platform/jobs/pauses/pause.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'
import type { CommandScope } from '../command-scope.ts'

const options = schema(
  t.Object({
    kind: t.Optional(t.String({ description: 'name of the job, such as records.import; kontor jobs lists them' })),
    pool: t.Optional(t.String({ description: 'a pool instead of a kind: functions, flows, data, mail or schedule' })),
  }),
)

/** The two ways to change what is named: a kind or a pool. */
interface Change {
  readonly kind: (tx: Tx, queue: CommandScope['jobQueue'], name: string) => Promise<void>
  readonly pool: (tx: Tx, queue: CommandScope['jobQueue'], name: string) => Promise<void>
}

/** Changes the one thing that is named, and returns it. Throws VALIDATION_ERROR when none or both are named. */
async function change({ db, jobQueue }: CommandScope, { kind, pool }: TypeOf<typeof options>, how: Change) {
  const named = [
    ...(kind === undefined ? [] : [{ target: 'kind' as const, name: kind }]),
    ...(pool === undefined ? [] : [{ target: 'pool' as const, name: pool }]),
  ]
  const [one] = named
  if (!one || named.length > 1) throw problem('VALIDATION_ERROR', 'Name one kind of job, or give --pool with one pool')
  await db.transaction((tx) => how[one.target](tx, jobQueue, one.name))
  return one
}

export const pauseCommands = [
  command({
    name: 'jobs pause',
    summary: 'Pause a kind of job or a pool: what runs ends, and nothing else of it starts until jobs resume',
    options,
    run: async (given, platform) => {
      const paused = await change(platform, given, {
        kind: (tx, queue, name) => pauseKind(tx, queue, jobs, name),
        pool: (tx, queue, name) => pausePool(tx, queue, jobs, name),
      })
      const { target, name } = paused
      const held = target === 'pool' ? pausableKinds(jobs, name as WorkerPool) : [name]
      const left = target === 'pool' ? jobs.filter((job) => job.pool === name && !held.includes(job.name)).map((job) => job.name) : []
      const goesOn = left.length > 0 ? [`These go on, since they cannot be paused: ${left.join(', ')}`] : []
      return { data: { ...paused, kinds: held }, lines: [`Paused: the ${target} ${name}`, ...goesOn] }
    },
  }),
  command({
    name: 'jobs resume',
    summary: 'Resume a paused kind of job, or a paused pool',
    options,
    run: async (given, platform) => {
      const resumed = await change(platform, given, {
        kind: (tx, queue, name) => resumeKind(tx, queue, jobs, name),
        pool: (tx, queue, name) => resumePool(tx, queue, name),
      })
      return { data: resumed, lines: [`Resumed: the ${resumed.target} ${resumed.name}`] }
    },
  }),
]
