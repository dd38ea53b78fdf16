import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { functionFailed } from '#shared/features/forms/process-submission.ts'
import type { Form, Submission, SubmissionPage, SubmissionQuery } from '#shared/features/forms/schemas.ts'
import { findSubmission, findSubmissions, requeueSubmission } from '#shared/features/forms/store.ts'
import { hasFollowUp } from '#shared/features/forms/submit-form.ts'
import { listById } from '#shared/platform/db/lists.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** A form's submissions, newest first. Throws VALIDATION_ERROR for a cursor of another list. */
export async function listSubmissions(scope: Scope, form: Form, query: SubmissionQuery): Promise<SubmissionPage> {
  const { page, next } = await listById(scope, query, (beforeId, limit) =>
    findSubmissions({ workspaceId: scope.workspace.id, formId: form.id, beforeId, limit }),
  )
  return { submissions: page.map((row) => viewOf(scope, form, row)), next_cursor: next }
}

/**
 * Processes a failed submission again, or a spam submission for the first time. Returns the submission as it is then. A submission in any
 * other state is left unchanged. Throws NOT_FOUND.
 */
export async function retrySubmission(scope: Scope, form: Form, id: string): Promise<Submission> {
  const { db, workspace, cause } = scope
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const place = { workspaceId: workspace.id, formId: form.id, id }
  const [row] = await db.query(
    requeueSubmission({ ...place, hasFollowUp: hasFollowUp(form), formKey: form.key, cause: JSON.stringify(cause) }),
  )
  if (row?.announced) wakeNumbering(scope, 'now')
  const [submission] = await db.query(findSubmission(place))
  if (!submission) throw problem('NOT_FOUND')
  return viewOf(scope, form, submission)
}

/**
 * A submission without the words of its function, which ran with the rights of the form's last editor, unless the caller may read its runs.
 */
function viewOf(scope: Scope, { function_id }: Form, submission: Submission): Submission {
  const isHidden = submission.error?.startsWith(functionFailed) && !permits(scope, 'functions:create', function_id ?? undefined)
  return isHidden ? { ...submission, error: functionFailed } : submission
}
