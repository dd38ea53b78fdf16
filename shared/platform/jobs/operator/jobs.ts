import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { jobActions } from '#shared/platform/jobs/operator/act.ts'
import { filterProperties } from '#shared/platform/jobs/operator/filter.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Does an operator's action to all jobs that match a filter. */
export const actOnJobsJob = defineJob({
  name: 'jobs.act',
  work: 'upkeep',
  app: null,
  pool: 'schedule',
  concurrency: 2,
  retry: retryPolicies.transient,
  timeoutSeconds: 3_600,
  tracked: true,
  payload: schema(
    t.Object({
      action: t.Enum(jobActions),
      filter: t.Object(filterProperties),
      alsoAnswered: t.Boolean(),
      total: t.Integer({ minimum: 0, description: 'The matches when it was filed.' }),
    }),
  ),
  visible: ['action', 'filter', 'alsoAnswered', 'total'],
  result: schema(
    t.Object(
      {
        done: t.Integer({ minimum: 0 }),
        skipped: t.Integer({ minimum: 0, description: 'Jobs whose state no longer fitted.' }),
        skipped_answered: t.Integer({ minimum: 0, description: 'Jobs that were not retried since somebody was given their failure.' }),
      },
      { title: 'JobActionResult' },
    ),
  ),
})
