import { follow, formOf, noteRefusal } from '#shared/forms/follow.ts'
import { followSubmissions } from '#shared/forms/jobs.ts'
import { problem } from '#shared/kernel/errors.ts'
import { enterAs, orRefusal } from '#workers/enter.ts'
import { platformHandler } from '#workers/handler.ts'

// The form's last editor does it, not the visitor, and is not there to hear of a refusal: that is noted on the submission.
export default platformHandler(followSubmissions, async ({ payload: { workspaceId, entryIds, listenerIds }, scope }) => {
  for (const formId of listenerIds) {
    for (const submissionId of entryIds) {
      const place = { workspaceId, formId, submissionId }
      const form = await formOf(scope, place)
      if (!form) continue
      const { refusal } = await orRefusal(async () => {
        if (form.edited_by === null) throw problem('FORBIDDEN', 'Whoever edited the form last is gone')
        await follow(await enterAs(scope, workspaceId, form.edited_by), form, place)
      })
      if (refusal) await noteRefusal(scope, place, refusal)
    }
  }
  return { result: null }
})
