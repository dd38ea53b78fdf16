import type { Feature } from '#shared/core/automation/feature.ts'
import { formsSubscriber, processSubmissionsJob, submissionRunEndedJob } from '#shared/features/forms/jobs.ts'

export const feature = {
  jobs: { processSubmissions: processSubmissionsJob, submissionRunEnded: submissionRunEndedJob },
  subscriptions: { [formsSubscriber]: { job: processSubmissionsJob, continues: true } },
} satisfies Feature
