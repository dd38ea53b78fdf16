import { changePause } from '#shared/core/operators/pauses.ts'
import { jobs } from '#shared/features.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'
import { command } from '../command.ts'

const options = schema(
  t.Object({
    kind: t.Optional(t.String({ description: 'name of the job, such as records.import; kontor jobs lists them' })),
    pool: t.Optional(t.String({ description: 'a pool instead of a kind: functions, flows, data, mail or schedule' })),
  }),
)

/** The one kind or pool that is named. Throws VALIDATION_ERROR when none or both are. */
function targetOf({ kind, pool }: TypeOf<typeof options>) {
  if (kind !== undefined && pool === undefined) return { target: 'kind', name: kind } as const
  if (kind === undefined && pool !== undefined) return { target: 'pool', name: pool } as const
  throw problem('VALIDATION_ERROR', 'Name one kind of job, or give --pool with one pool')
}

export const pauseCommands = [
  command({
    name: 'jobs pause',
    summary: 'Pause a kind of job or a pool: what runs ends, and nothing else of it starts until jobs resume',
    options,
    run: async (given, platform) => {
      const data = await changePause(platform, jobs, 'jobs.pause', targetOf(given))
      const { target, name, kinds } = data
      const others = target === 'pool' ? jobs.filter((job) => job.pool === name && !kinds.includes(job.name)) : []
      const exceptions = `Not paused, since they cannot be: ${others.map((job) => job.name).join(', ')}`
      return { data, lines: [`Paused: the ${target} ${name}`, ...(others.length > 0 ? [exceptions] : [])] }
    },
  }),
  command({
    name: 'jobs resume',
    summary: 'Resume a paused kind of job, or a paused pool',
    options,
    run: async (given, platform) => {
      const data = await changePause(platform, jobs, 'jobs.resume', targetOf(given))
      return { data, lines: [`Resumed: the ${data.target} ${data.name}`] }
    },
  }),
]
