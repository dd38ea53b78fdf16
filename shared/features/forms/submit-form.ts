import type { Scope } from '#shared/core/scope/scope.ts'
import type { Form, Thanks } from '#shared/features/forms/schemas.ts'
import { findSubmittedValues, insertSubmission } from '#shared/features/forms/store.ts'
import { wakeNumbering } from '#shared/platform/events/announce.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** A visitor's attempt to send answers. */
interface SubmissionAttempt {
  /** Identifies the attempt among those of the form. Attempts with the same key are stored once. */
  readonly key: string | undefined
  /**
   * What happens when the key is already stored with other values. True: VALIDATION_ERROR, as for an Idempotency-Key. False: the stored
   * values stay, without an error, as for the id in a hosted page (docs/contract/public.md#sending-a-page).
   */
  readonly isExact: boolean
  /** Why the submission counts as spam; null otherwise. */
  readonly spam: string | null
}

/**
 * Stores a submission and returns the form's thanks, also for spam and for an attempt that is already stored. The record and the function
 * of the form follow after the commit. Throws VALIDATION_ERROR if the attempt is exact and stored with other values.
 */
export async function submitForm(scope: Scope, form: Form, values: object, { key, isExact, spam }: SubmissionAttempt): Promise<Thanks> {
  const state = spam === null && hasFollowUp(form) ? 'waiting' : 'kept'
  const valuesText = JSON.stringify(values)
  const [row] = await scope.db.query(
    insertSubmission({
      workspaceId: scope.workspace.id,
      formId: form.id,
      id: newId(),
      attemptKey: key,
      values: valuesText,
      spam,
      state,
      formKey: form.key,
      cause: JSON.stringify(scope.cause),
    }),
  )
  if (row?.announced) wakeNumbering(scope, 'now')
  if (isExact && key !== undefined && !row?.kept) await requireSame(scope, form, key, valuesText)
  return thanksOf(form)
}

const thanksOf = ({ settings }: Form): Thanks => ({ ok: true, message: settings.success_message, redirect: settings.redirect })

/** The thanks for an attempt that is already stored; undefined when it is not. For pages that repeat them whatever is sent. */
export async function findFirstThanks({ db, workspace }: Scope, form: Form, attemptKey: string): Promise<Thanks | undefined> {
  const [first] = await db.query(findSubmittedValues({ workspaceId: workspace.id, formId: form.id, attemptKey }))
  return first && thanksOf(form)
}

async function requireSame({ db, workspace }: Scope, form: Form, key: string, valuesText: string): Promise<void> {
  const [first] = await db.query(findSubmittedValues({ workspaceId: workspace.id, formId: form.id, attemptKey: key }))
  if (first && first.values_text !== valuesText)
    throw problem('VALIDATION_ERROR', 'Idempotency-Key was used on this form with another body')
}

/** Whether submissions are processed: the form has a target or a function. */
export const hasFollowUp = ({ target, function_id }: Pick<Form, 'target' | 'function_id'>): boolean =>
  target !== null || function_id !== null
