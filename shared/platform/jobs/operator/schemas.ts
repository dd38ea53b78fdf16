import { workerPools } from '#shared/platform/jobs/job.ts'
import { jobStates } from '#shared/platform/jobs/operator/filter.ts'
import { maxCounted } from '#shared/platform/jobs/pgboss/operator/search.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** What a list shows of a job. */
const viewProperties = {
  id: uuid,
  kind: t.String({ description: 'Name of the job, such as records.import.' }),
  pool: nullable(t.Enum(workerPools)),
  state: t.Enum(jobStates),
  workspace: nullable(uuid),
  principal: nullable(uuid),
  request_id: t.String(),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
  created_at: instant,
  progress: nullable(t.Object({ done: t.Integer(), total: t.Integer() })),
  why: nullable(t.String({ description: 'Why it waits or is held; null once it runs or has ended.' })),
}
const jobView = t.Object(viewProperties, { title: 'OperatedJob' })

const related = t.Object({ id: uuid, kind: t.String(), state: t.Enum(jobStates) }, { title: 'RelatedJob' })

/** A job as operators see it alone. */
export const jobDetail = schema(
  t.Object(
    {
      ...viewProperties,
      payload: nullable(
        t.Object(
          {},
          { additionalProperties: true, description: 'Values other than ids and keys are `[hidden]`. Null when it is no longer kept.' },
        ),
      ),
      attempts: t.Array(
        t.Object({
          worker: t.String({ description: 'Host and process id.' }),
          started_at: instant,
          ended_at: nullable(instant),
          error: nullable(t.String()),
        }),
        { description: 'The newest 20, oldest first. Empty for jobs without tracking.' },
      ),
      caused_by: nullable(related),
      caused: t.Array(related, { description: 'The first 100 jobs that it caused.' }),
      caused_more: t.Boolean({ description: 'Whether it caused more.' }),
    },
    { title: 'OperatedJobDetail' },
  ),
)
export type JobDetail = TypeOf<typeof jobDetail>
/** A job as operators see it in a list. */
export type JobView = JobPage['jobs'][number]
/** A job that another one caused or was caused by. */
export type RelatedView = JobDetail['caused'][number]

/** A total that counting ended before. */
export const manyMore = `${maxCounted}+` as const

export const jobPage = schema(
  t.Object({
    jobs: t.Array(jobView),
    total: t.Union([t.Integer(), t.Literal(manyMore)], { description: `Exact up to ${maxCounted.toLocaleString('en')}.` }),
    next_cursor: nullable(t.String({ description: 'Null on the last page.' })),
  }),
)
type JobPage = TypeOf<typeof jobPage>
