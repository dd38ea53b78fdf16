import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, integer, jsonb, type RowOf, text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { type AnyJob, deadLetterQueue, type JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { JobQueue } from '#shared/platform/jobs/job-queue.ts'
import { reopenOperation } from '#shared/platform/jobs/operations/operations.ts'

// What awaits an operation has been given its failure when it completed.
const isAnswered = '(operation.failure_answered_at is not null or operation.continuation is not null)'

const letterColumns = {
  /** The id of the job; its operation has the same id, unless the job resumed a parked operation. */
  id: uuid.notNull,
  job: text.notNull,
  workspace_id: text,
  workspace: text,
  request_id: text.notNull,
  attempts: integer.notNull,
  error: text,
  failed_at: instant.notNull,
  /** Whether a caller was told that the work failed, or other work has gone on without it. */
  answered: boolean.notNull,
}

/** A job whose last attempt failed. It is kept until an operator resends or discards it, or two weeks have passed. */
export type DeadLetter = RowOf<typeof letterColumns>

const loadColumns = { job: text.notNull, waiting: integer.notNull, running: integer.notNull }

/** Numbers of waiting and running jobs of a queue. */
export type QueueLoad = RowOf<typeof loadColumns>

/** Which dead letters are meant; all by default. */
export interface DeadLetterFilter {
  readonly id?: string | undefined
  /** The name of the job. */
  readonly kind?: string | undefined
  readonly workspaceId?: string | undefined
  /** Those that failed at this time or later. */
  readonly since?: Date | undefined
}

const findDeadLetters = statement(
  'jobs.findDeadLetters',
  `select letter.source_id as id, letter.source_name as job, letter.data ->> 'workspaceId' as workspace_id, workspaces.name as workspace,
     letter.data -> 'cause' ->> 'requestId' as request_id, letter.source_retry_count + 1 as attempts, letter.output ->> 'message' as error,
     letter.created_on as failed_at, ${isAnswered} as answered
   from pgboss.job as letter
   left join workspaces on workspaces.id = (letter.data ->> 'workspaceId')::uuid
   left join operations as operation on operation.id = coalesce((letter.data ->> 'operationId')::uuid, letter.source_id)
   where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null
     and ($id::uuid is null or letter.source_id = $id)
     and ($kind::text is null or letter.source_name = $kind)
     and ($workspaceId::text is null or letter.data ->> 'workspaceId' = $workspaceId)
     and ($since::timestamptz is null or letter.created_on >= $since)
   order by letter.created_on, letter.source_id`,
  {
    params: { deadLetters: text, id: uuid.orNull, kind: text.orNull, workspaceId: text.orNull, since: instant.orNull },
    columns: letterColumns,
  },
)
/** Lists dead letters, oldest first. */
export const listDeadLetters = (db: Executor, { id, kind, workspaceId, since }: DeadLetterFilter = {}): Promise<DeadLetter[]> =>
  db.query(findDeadLetters({ deadLetters: deadLetterQueue, id, kind, workspaceId, since }))

const countJobsByQueue = statement(
  'jobs.countJobsByQueue',
  `select job, count(*) filter (where state in ('created', 'retry'))::integer as waiting,
     count(*) filter (where state = 'active')::integer as running
   from (
     select name as job, state::text, data ->> 'workspaceId' as workspace, created_on as since from pgboss.job where name <> $deadLetters
     union all
     select queue, 'created', workspace_id::text, uuid_extract_timestamp(id) from gated_jobs where slot is null
     union all
     select queue, 'created', workspace_id::text, uuid_extract_timestamp(id) from deferred_jobs
     union all
     select 'events', 'created', workspace_id::text, uuid_extract_timestamp(id) from event_outbox
   ) as held
   where ($kind::text is null or job = $kind) and ($workspaceId::text is null or workspace = $workspaceId)
     and ($since::timestamptz is null or since >= $since)
   group by job order by job`,
  { params: { deadLetters: text, kind: text.orNull, workspaceId: text.orNull, since: instant.orNull }, columns: loadColumns },
)
/** Counts jobs by queue name. Jobs at a gate and deferred jobs count as waiting; undispatched events are the queue `events`. */
export const countQueuedJobs = (db: Executor, { kind, workspaceId, since }: DeadLetterFilter = {}): Promise<QueueLoad[]> =>
  db.query(countJobsByQueue({ deadLetters: deadLetterQueue, kind, workspaceId, since }))

const deleteDeadLetter = statement(
  'jobs.deleteDeadLetter',
  `delete from pgboss.job as letter
   where letter.name = $deadLetters and letter.source_id = $id and letter.state = 'created'
     and ($alsoAnswered or not exists (
       select from operations as operation
       where operation.id = coalesce((letter.data ->> 'operationId')::uuid, letter.source_id) and ${isAnswered}
     ))
   returning letter.source_name as job, letter.data`,
  { params: { deadLetters: text, id: uuid, alsoAnswered: boolean }, columns: { job: text, data: jsonb.as<JobEnvelope>() } },
)
const deleteFailedJob = statement('jobs.deleteFailedJob', `delete from pgboss.job where name = $queue and id = $id and state = 'failed'`, {
  params: { queue: text, id: uuid },
})

/** What became of a request to resend: `answered` when its caller was told of the failure, `gone` when there is no such dead letter. */
type Resent = 'sent' | 'answered' | 'gone'

/**
 * Resends a dead letter under its own id; its operation is reopened and continues from its last checkpoint. `jobs` are the declared jobs,
 * of which one gives the queue and gate. One whose caller was told of the failure is sent only with `alsoAnswered`: the caller may have
 * repeated the call.
 */
export async function resendDeadLetter(
  db: Executor,
  queue: JobQueue,
  jobs: readonly AnyJob[],
  id: string,
  { alsoAnswered = false }: { readonly alsoAnswered?: boolean } = {},
): Promise<Resent> {
  return db.transaction(async (tx) => {
    const [letter] = await tx.query(deleteDeadLetter({ deadLetters: deadLetterQueue, id, alsoAnswered }))
    if (!letter?.job || !letter.data) return (await listDeadLetters(tx, { id })).length > 0 ? 'answered' : 'gone'
    const { job, data } = letter
    await tx.query(deleteFailedJob({ queue: job, id }))
    await reopenOperation(tx, data.operationId ?? id, id)
    await queue.send(tx, jobs.find(({ name }) => name === job) ?? { name: job }, id, data)
    return 'sent'
  })
}

/** Deletes a dead letter; its operation stays failed. Returns false when there is none with this id. */
export async function discardDeadLetter(db: Executor, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [letter] = await tx.query(deleteDeadLetter({ deadLetters: deadLetterQueue, id, alsoAnswered: true }))
    if (letter?.job) await tx.query(deleteFailedJob({ queue: letter.job, id }))
    return letter !== undefined
  })
}
