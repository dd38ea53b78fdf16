import type { feature } from '#shared/features/forms/feature.ts'
import processSubmissions from '#workers/features/forms/process-submissions.ts'
import submissionRunEnded from '#workers/features/forms/run-ended.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  processSubmissions,
  submissionRunEnded,
} satisfies HandlersOf<typeof feature.jobs>
