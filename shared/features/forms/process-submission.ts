import type { Invocation } from '#shared/core/automation/schemas.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { type PlatformScope, type Scope, within } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { submissionRunEndedJob } from '#shared/features/forms/jobs.ts'
import type { Form } from '#shared/features/forms/schemas.ts'
import {
  findForm,
  findRunOfSubmission,
  lockWaitingSubmission,
  markProcessed,
  markRefused,
  markRunEnded,
} from '#shared/features/forms/store.ts'
import { requireEnabledFunction } from '#shared/features/functions/definitions/functions.ts'
import { runFunctionJob } from '#shared/features/functions/jobs.ts'
import type { Tx } from '#shared/platform/db/database.ts'
import { createContinuation } from '#shared/platform/jobs/operations/continuation.ts'
import { findOperation } from '#shared/platform/jobs/operations/operations.ts'
import { requireNotHalted } from '#shared/platform/kernel/background.ts'
import { causedBy } from '#shared/platform/kernel/cause.ts'
import type { Problem } from '#shared/platform/kernel/errors.ts'

/** How the error of a submission begins when its function failed. */
export const functionFailed = 'function failed'

/** Identifies a submission. */
interface SubmissionPlace {
  readonly workspaceId: string
  readonly formId: string
  readonly submissionId: string
}

/** A waiting submission. */
interface Waiting {
  readonly id: string
  readonly values: Readonly<Record<string, unknown>>
}

const keyOf = ({ workspaceId, formId, submissionId: id }: SubmissionPlace) => ({ workspaceId, formId, id })

/** The current form of a submission; undefined when it was deleted. */
export async function findFormOfSubmission({ db }: PlatformScope, { workspaceId, formId }: SubmissionPlace): Promise<Form | undefined> {
  return (await db.query(findForm({ workspaceId, id: formId })))[0]
}

/**
 * Processes a waiting submission: creates its record unless it has one, and starts the form's function. `scope` is that of the form's last
 * editor. One transaction does all of it, so that repeating it has no effect. Throws the problem that refused a step.
 */
export async function processSubmission(scope: Scope, form: Form, place: SubmissionPlace): Promise<void> {
  await scope.db.transaction(async (tx) => {
    const [waiting] = await tx.query(lockWaitingSubmission(keyOf(place)))
    if (!waiting) return
    const inside = { ...within(scope, tx), cause: causedBy(scope.cause, 'form', place.submissionId) }
    const recordId = waiting.record_id ?? (await writeRecord(inside, form, waiting))
    const runId = form.function_id === null ? null : await startFunction(inside, tx, form, form.function_id, waiting, place)
    await tx.query(markProcessed({ ...keyOf(place), state: runId === null ? 'done' : 'running', recordId, runId }))
  })
}

/** Records on a submission why its processing was refused. */
export async function recordRefusal({ db }: PlatformScope, place: SubmissionPlace, refusal: Problem): Promise<void> {
  await db.query(markRefused({ ...keyOf(place), error: describeError(refusal) }))
}

/** Records on a submission how the run of its function ended; does nothing while it is queued or running. */
export async function recordRunEnd({ db }: PlatformScope, place: SubmissionPlace): Promise<void> {
  const runId = (await db.query(findRunOfSubmission(keyOf(place))))[0]?.run_id
  if (!runId) return
  const operation = await findOperation(db, runId)
  if (!operation || operation.status === 'queued' || operation.status === 'running') return
  const { error: failure } = operation.error ? { error: describeError(operation.error) } : (operation.result as Invocation)
  const error = failure === undefined ? null : `${functionFailed}: ${failure}`
  await db.query(markRunEnded({ ...keyOf(place), runId, error }))
}

const describeError = ({ code, message }: Pick<Problem, 'code' | 'message'>): string => `${code}: ${message}`

async function writeRecord(scope: Scope, { target }: Form, { values }: Waiting): Promise<string | null> {
  return target === null ? null : (await createRecord(scope, await requireRecordType(scope, target.object_type), values)).id
}

async function startFunction(
  scope: Scope,
  tx: Tx,
  form: Form,
  functionId: string,
  { id, values }: Waiting,
  place: SubmissionPlace,
): Promise<string> {
  const { workspace, jobQueue, cause } = scope
  requireNotHalted(runFunctionJob, workspace)
  await requireEnabledFunction(scope, functionId)
  requirePermission(scope, 'functions:invoke', functionId)
  const input = JSON.stringify({ form: form.key, submission_id: id, values })
  const origin = { workspaceId: workspace.id, cause }
  const payload = { functionId, input, rights: 'lesser' as const }
  return jobQueue.enqueue(tx, runFunctionJob, origin, payload, { continuation: createContinuation(submissionRunEndedJob, origin, place) })
}
