import type { Feature } from '#shared/core/automation/feature.ts'
import { formEvents } from '#shared/features/forms/events.ts'
import { formsSubscriber, processSubmissionsJob, submissionRunEndedJob } from '#shared/features/forms/jobs.ts'

export const feature = {
  jobs: { processSubmissions: processSubmissionsJob, submissionRunEnded: submissionRunEndedJob },
  events: [formEvents],
  subscriptions: { [formsSubscriber]: { job: processSubmissionsJob, continues: true } },
} satisfies Feature
