import type { feature } from '#shared/features/forms/feature.ts'
import { processSubmissionsJob, submissionRunEndedJob } from '#shared/features/forms/jobs.ts'
import { findFormOfSubmission, processSubmission, recordRefusal, recordRunEnd } from '#shared/features/forms/process-submission.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { definePlatformHandler } from '#workers/core/scope/handler.ts'
import { catchRefusal, enterAsPrincipal } from '#workers/core/workspaces/enter-workspace.ts'
import type { HandlersOf } from '#workers/platform/jobs/handler.ts'

export const handlers = {
  // Acts with the rights of the form's last editor, not the visitor's. Nobody waits for the answer: a refusal is stored with the submission.
  processSubmissions: definePlatformHandler(processSubmissionsJob, async ({ payload: { workspaceId, subjectIds, listenerIds }, scope }) => {
    for (const formId of listenerIds) {
      for (const submissionId of subjectIds) {
        const place = { workspaceId, formId, submissionId }
        const form = await findFormOfSubmission(scope, place)
        if (!form) continue
        const { refusal } = await catchRefusal(async () => {
          if (form.edited_by === null) throw problem('FORBIDDEN', 'The last editor of the form no longer exists')
          await processSubmission(await enterAsPrincipal(scope, workspaceId, form.edited_by), form, place)
        })
        if (refusal) await recordRefusal(scope, place, refusal)
      }
    }
    return { result: null }
  }),
  submissionRunEnded: definePlatformHandler(submissionRunEndedJob, async ({ payload, scope }) => {
    await recordRunEnd(scope, payload)
    return { result: null }
  }),
} satisfies HandlersOf<typeof feature.jobs>
