import { jobs } from '#shared/features.ts'
import { type ActOptions, actOnJob, type JobAction } from '#shared/platform/jobs/operator/act.ts'
import type { JobFilter } from '#shared/platform/jobs/operator/filter.ts'
import { type FoundPage, findJob, findJobs } from '#shared/platform/jobs/operator/find-jobs.ts'
import type { JobDetail } from '#shared/platform/jobs/operator/schemas.ts'
import type { Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** What operators do, in a world. */
export const operatorOf = (w: World) => {
  const { database, jobQueue, now } = w.api.services
  return {
    list: (filter: JobFilter, order: Partial<Parameters<typeof findJobs>[3]> = {}): Promise<FoundPage> =>
      findJobs(database, jobs, filter, { limit: 50, ...order }),
    show: (id: string): Promise<JobDetail> => findJob(database, jobs, id),
    act: (action: JobAction, id: string, options?: ActOptions): Promise<void> =>
      database.transaction((tx) => actOnJob({ db: tx, jobQueue, jobs, now }, action, id, options)),
  }
}

/** Files an export whose caller does not wait; returns its id. */
export async function fileExport(org: Org): Promise<string> {
  const { data } = await org.owner.get(`${org.path}/records/locations/export`, { prefer: 'respond-async' })
  return data.job_id
}
