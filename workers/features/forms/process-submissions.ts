import { followSubmissions } from '#shared/features/forms/jobs.ts'
import { follow, formOf, noteRefusal } from '#shared/features/forms/process-submission.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { enterAs, orRefusal } from '#workers/core/workspaces/enter-workspace.ts'
import { platformHandler } from '#workers/platform/jobs/handler.ts'

// Runs as the form's last editor, not as the visitor. Neither is present, so a refusal is recorded on the submission.
export default platformHandler(followSubmissions, async ({ payload: { workspaceId, entryIds, listenerIds }, scope }) => {
  for (const formId of listenerIds) {
    for (const submissionId of entryIds) {
      const place = { workspaceId, formId, submissionId }
      const form = await formOf(scope, place)
      if (!form) continue
      const { refusal } = await orRefusal(async () => {
        if (form.edited_by === null) throw problem('FORBIDDEN', 'The last editor of the form no longer exists')
        await follow(await enterAs(scope, workspaceId, form.edited_by), form, place)
      })
      if (refusal) await noteRefusal(scope, place, refusal)
    }
  }
  return { result: null }
})
