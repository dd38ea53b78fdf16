import type { Tx } from '#shared/db/database.ts'
import type { Form } from '#shared/forms/form.ts'
import { runEnded } from '#shared/forms/jobs.ts'
import { findForm } from '#shared/forms/store.ts'
import { findRunning, lockWaiting, noteEnded, noteFollowed, noteRefused } from '#shared/forms/submissions-store.ts'
import { requireEnabled } from '#shared/functions/functions.ts'
import type { Invocation } from '#shared/functions/invocation.ts'
import { runFunction } from '#shared/functions/jobs.ts'
import { requireOpen } from '#shared/kernel/background.ts'
import type { Problem } from '#shared/kernel/errors.ts'
import { continuation } from '#shared/queue/continuation.ts'
import { findOperation } from '#shared/queue/operations.ts'
import { createRecord } from '#shared/records/create.ts'
import { requirePermission } from '#shared/scope/access.ts'
import { type PlatformScope, type Scope, within } from '#shared/scope/scope.ts'

/** A submission, by where it is kept. */
export interface Place {
  readonly workspaceId: string
  readonly formId: string
  readonly submissionId: string
}

interface Waiting {
  readonly id: string
  readonly values: Readonly<Record<string, unknown>>
  readonly record_id: string | null
}

/** The form of a submission as it is now; undefined when it is gone. */
export async function formOf({ db }: PlatformScope, { workspaceId, formId }: Place): Promise<Form | undefined> {
  return (await db.query<Form>(findForm(workspaceId, formId)))[0]
}

/**
 * Does what follows a submission that waits for it, as the form's last editor, in whose scope it runs: writes its record, unless it has one,
 * and starts the form's function. All of it commits together, so doing it again does nothing. Throws what refused it.
 */
export async function follow(scope: Scope, form: Form, place: Place): Promise<void> {
  const key = [place.workspaceId, place.formId, place.submissionId] as const
  await scope.db.transaction(async (tx) => {
    const [waiting] = await tx.query<Waiting>(lockWaiting(...key))
    if (!waiting) return
    const inside = within(scope, tx)
    const recordId = waiting.record_id ?? (await writeRecord(inside, form, waiting))
    const runId = form.function_id === null ? null : await startFunction(inside, tx, form, form.function_id, waiting, place)
    await tx.query(noteFollowed(...key, runId === null ? 'done' : 'running', recordId, runId))
  })
}

/** Notes on a submission why what follows it was refused. */
export async function noteRefusal({ db }: PlatformScope, place: Place, refusal: Problem): Promise<void> {
  await db.query(noteRefused(place.workspaceId, place.formId, place.submissionId, inWords(refusal)))
}

/** Notes on a submission how the run of its function has ended. */
export async function noteRunEnded({ db }: PlatformScope, place: Place): Promise<void> {
  const key = [place.workspaceId, place.formId, place.submissionId] as const
  const [running] = await db.query<{ run_id: string }>(findRunning(...key))
  const operation = running && (await findOperation(db, running.run_id))
  if (!operation || operation.status === 'queued' || operation.status === 'running') return
  const error = operation.error ? inWords(operation.error) : errorOf(operation.result as Invocation)
  await db.query(noteEnded(...key, running.run_id, error))
}

const inWords = ({ code, message }: Pick<Problem, 'code' | 'message'>): string => `${code}: ${message}`

const errorOf = ({ error }: Invocation): string | null => (error === undefined ? null : `function failed: ${error}`)

async function writeRecord(scope: Scope, { target }: Form, { values }: Waiting): Promise<string | null> {
  return target === null ? null : (await createRecord(scope, target.object_type, values)).id
}

async function startFunction(scope: Scope, tx: Tx, form: Form, functionId: string, { id, values }: Waiting, place: Place): Promise<string> {
  const { workspace, queue, cause } = scope
  requireOpen(runFunction, workspace)
  await requireEnabled(scope, functionId)
  requirePermission(scope, 'functions:invoke', functionId)
  const input = JSON.stringify({ form: form.key, submission_id: id, values })
  const origin = { workspaceId: workspace.id, cause }
  const payload = { functionId, input, rights: 'lesser' as const }
  return queue.enqueue(tx, runFunction, origin, payload, { continuation: continuation(runEnded, origin, place) })
}
