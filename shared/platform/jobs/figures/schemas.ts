import { workerPools } from '#shared/platform/jobs/job.ts'
import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const count = t.Integer({ minimum: 0 })

const times = t.Object(
  { p50: nullable(t.Integer()), p95: nullable(t.Integer()) },
  { title: 'JobTimes', description: 'Milliseconds that half and 95 of a hundred do not exceed; null when none was counted.' },
)

const kind = t.Object(
  {
    kind: t.String(),
    pool: t.Enum([...workerPools]),
    paused: t.Boolean({ description: 'By itself or with its pool.' }),
    waiting: count,
    held: t.Integer({ description: 'Jobs that wait for their workspace or app, or for the time of another try.' }),
    running: count,
    failed: count,
    oldest_seconds: t.Integer({ description: 'For how long the first waiting job has been waiting.' }),
    wait_ms: times,
    run_ms: times,
    done_hour: count,
    failed_attempts_hour: count,
    limits: t.Object(
      {
        per_process: count,
        per_workspace_and_process: nullable(t.Integer()),
        per_workspace: nullable(t.Integer({ description: 'Over all processes.' })),
        in_all: t.Integer({ description: 'What all live processes of the pool run at most.' }),
      },
      { title: 'JobLimits' },
    ),
    full: nullable(t.Number({ description: 'The part of `limits.in_all` that runs now; null where no process of the pool lives.' })),
    top_workspaces: t.Array(t.Object({ id: uuid, name: nullable(t.String()), attempts: count, run_ms: count }, { title: 'TopWorkspace' }), {
      description: 'The five whose jobs ran longest in the last hour.',
    }),
  },
  { title: 'JobKind' },
)

/** Every kind of job, with what waits and runs now, and what was done in the last hour. */
export const jobKinds = schema(t.Object({ kinds: t.Array(kind) }))
export type JobKind = TypeOf<typeof jobKinds>['kinds'][number]
export type Times = JobKind['wait_ms']
