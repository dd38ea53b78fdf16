import type { Executor } from '#shared/platform/db/database.ts'
import { boolean, instant, integer, json, jsonb, type RowOf, text, texts, uuid, uuids } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue, type JobEnvelope } from '#shared/platform/jobs/job.ts'
import type { StoredAttempt } from '#shared/platform/jobs/operations/attempts.ts'
import type { JobState } from '#shared/platform/jobs/operator/filter.ts'
import type { FoundJob, JobPlace } from '#shared/platform/jobs/pgboss/operator/search.ts'
import { failureMessage, letterKey, operationState, presentJob, stateJoins } from '#shared/platform/jobs/pgboss/operator/state.ts'

const state = text.as<JobState>().notNull

const columns = {
  id: uuid.notNull,
  name: text.notNull,
  state,
  workspace_id: uuid,
  principal_id: uuid,
  request_id: text.notNull,
  error_code: text,
  error_message: text,
  created_at: instant.notNull,
  progress: json.as<{ readonly done: number; readonly total: number }>(),
  /** When the next attempt may begin, for a job in its queue. */
  start_after: instant,
  /** The gate at which the job waits, and the slots that its workspace has there. */
  gate: text,
  slots: integer,
  is_deferred: boolean.notNull,
}

/** A job as its tables describe it now. */
export type DescribedJob = RowOf<typeof columns>

// Unprepared, as all statements of operators: the tables may be empty or full, and each needs its own plan.
const describeOperations = statement(
  'jobs.describeOperations',
  `select operation.id, operation.job as name, ${operationState} as state, operation.workspace_id, operation.principal_id,
     operation.request_id, operation.error ->> 'code' as error_code,
     case when operation.status = 'failed' then ${failureMessage} end as error_message, operation.created_at, operation.progress,
     job.start_after, gated.gate, gated.slots::integer as slots, deferred.id is not null as is_deferred
   from operations as operation ${stateJoins}
   where operation.id = any($ids)`,
  { params: { ids: uuids }, columns },
)

const ofEnvelope = (data: string): string =>
  `(${data} -> 'cause' ->> 'actorId')::uuid as principal_id, coalesce(${data} -> 'cause' ->> 'requestId', '') as request_id`

const describeQueued = statement(
  'jobs.describeQueued',
  `select job.id, job.name,
     case when job.state = 'active' then 'running' when job.state = 'completed' then 'done' when job.state = 'cancelled' then 'cancelled'
       when job.state = 'failed' then 'failed' when job.start_after > now() then 'held' else 'waiting' end as state,
     job.group_id::uuid as workspace_id, ${ofEnvelope('job.data')}, null as error_code, null as error_message, job.created_on as created_at,
     null::json as progress, job.start_after, null as gate, null::integer as slots, false as is_deferred
   from pgboss.job as job join unnest($names::text[], $ids::uuid[]) as wanted (name, id) on job.name = wanted.name and job.id = wanted.id`,
  { params: { names: texts, ids: uuids }, columns },
)
const describeDeferred = statement(
  'jobs.describeDeferred',
  `select deferred.id, deferred.queue as name, 'held' as state, deferred.workspace_id, ${ofEnvelope('deferred.envelope')}, null as error_code,
     null as error_message, coalesce(uuid_extract_timestamp(deferred.id), now()) as created_at, null::json as progress,
     null::timestamptz as start_after, null as gate, null::integer as slots, true as is_deferred
   from deferred_jobs as deferred
   join unnest($workspaces::uuid[], $ids::uuid[]) as wanted (workspace_id, id)
     on deferred.workspace_id = wanted.workspace_id and deferred.id = wanted.id`,
  { params: { workspaces: uuids, ids: uuids }, columns },
)
const describeLetters = statement(
  'jobs.describeLetters',
  `select coalesce(letter.source_id, letter.id) as id, coalesce(letter.source_name, letter.name) as name, 'failed' as state, (letter.data ->> 'workspaceId')::uuid as workspace_id,
     ${ofEnvelope('letter.data')}, 'INTERNAL' as error_code, letter.output ->> 'message' as error_message,
     coalesce(letter.source_created_on, letter.created_on) as created_at, null::json as progress, null::timestamptz as start_after,
     null as gate, null::integer as slots, false as is_deferred
   from pgboss.job as letter
   where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null and ${letterKey} = any($ids)`,
  { params: { deadLetters: text, ids: uuids }, columns },
)

/** Describes jobs that a search has found, in its order; those that have gone meanwhile are left out. */
export async function describeJobs(db: Pick<Executor, 'query'>, found: readonly FoundJob[]): Promise<DescribedJob[]> {
  const of = (place: JobPlace) => found.filter((one) => one.place === place)
  const idsOf = (place: JobPlace) => of(place).map(({ id }) => id)
  const read = async (place: JobPlace) => {
    const ids = idsOf(place)
    if (ids.length === 0) return []
    switch (place) {
      case 'operation':
        return db.query(asUnprepared(describeOperations({ ids })))
      case 'queue':
        return db.query(asUnprepared(describeQueued({ names: of(place).map(({ name }) => name), ids })))
      case 'deferred':
        return db.query(asUnprepared(describeDeferred({ workspaces: of(place).map(({ workspace_id }) => workspace_id), ids })))
      case 'letter':
        return db.query(asUnprepared(describeLetters({ deadLetters: deadLetterQueue, ids })))
    }
  }
  const rows = [...(await read('operation')), ...(await read('queue')), ...(await read('deferred')), ...(await read('letter'))]
  const byId = new Map(rows.map((row) => [row.id, row]))
  return found.flatMap(({ id }) => byId.get(id) ?? [])
}

const placeColumns = {
  place: text.as<JobPlace>().notNull,
  id: uuid.notNull,
  name: text.notNull,
  workspace_id: uuid,
  created_at: instant.notNull,
}

// A deferred job is found by its id alone: few are deferred, and only this statement needs it.
const findPlace = statement(
  'jobs.findPlace',
  `select place, id, name, workspace_id, created_at from (
     select 'operation' as place, id, job as name, workspace_id, created_at, 1 as rank from operations where id = any($ids)
     union all
     select 'deferred', id, queue, workspace_id, now(), 2 from deferred_jobs where id = any($ids) and queue = any($untracked)
     union all
     select 'letter', letter.source_id, letter.source_name, (letter.data ->> 'workspaceId')::uuid, letter.created_on, 3
     from pgboss.job as letter
     where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null and ${letterKey} = any($ids)
       and letter.source_name = any($untracked)
     union all
     select 'queue', job.id, job.name, job.group_id::uuid, job.created_on, 4
     from unnest($untracked::text[]) as kind (name) join pgboss.job as job on job.name = kind.name and job.id = any($ids)
   ) as found order by rank, id`,
  { params: { ids: uuids, untracked: texts, deadLetters: text }, columns: placeColumns },
)
/** Finds where jobs with these ids are kept, each once. */
export async function findPlaces(db: Pick<Executor, 'query'>, ids: readonly string[], untracked: readonly string[]): Promise<FoundJob[]> {
  const rows = await db.query(asUnprepared(findPlace({ ids, untracked, deadLetters: deadLetterQueue })))
  const first = new Map<string, FoundJob>()
  for (const row of rows) if (!first.has(row.id)) first.set(row.id, row)
  return [...first.values()]
}

const detailColumns = {
  attempts: jsonb.as<readonly StoredAttempt[]>().notNull,
  finished_at: instant,
  parent_id: uuid,
  error_message: text,
  envelope: jsonb.as<JobEnvelope>(),
}
const selectDetail = statement(
  'jobs.selectDetail',
  `select operation.attempts, operation.finished_at, operation.parent_id,
     case when operation.status = 'failed' then operation.error ->> 'message' end as error_message,
     coalesce(job.data, deferred.envelope, gated.envelope, ended.data) as envelope
   from operations as operation ${stateJoins}
   left join lateral (
     select data from pgboss.job as ended
     where operation.finished_at is not null and ended.name = operation.job and ended.id = ${presentJob}
     union all
     select data from pgboss.job as letter
     where operation.finished_at is not null and letter.name = $deadLetters and letter.source_id is not null and ${letterKey} = operation.id limit 1
   ) as ended on true
   where operation.id = $id`,
  { params: { id: uuid, deadLetters: text }, columns: detailColumns },
)
/** What only the page of a tracked job shows. */
export const findDetail = (id: string) => asUnprepared(selectDetail({ id, deadLetters: deadLetterQueue }))

const selectAnswered = statement(
  'jobs.selectAnswered',
  `select operation.failure_answered_at is not null or operation.continuation is not null or not exists (
     select from pgboss.job as letter
     where letter.name = $deadLetters and letter.state = 'created' and letter.source_id is not null and ${letterKey} = operation.id
   ) as "isAnswered"
   from operations as operation where operation.id = $id and operation.status = 'failed'`,
  { params: { id: uuid, deadLetters: text }, columns: { isAnswered: boolean.notNull } },
)
/** Whether somebody was given the failure of a tracked job: its caller, the work that awaited it, or a caller whose own mistake it was. */
export const findAnswered = (id: string) => asUnprepared(selectAnswered({ id, deadLetters: deadLetterQueue }))

const selectEnvelope = statement(
  'jobs.selectEnvelope',
  `select coalesce(
     (select data from pgboss.job where name = $name and id = $id),
     (select envelope from deferred_jobs where workspace_id = $workspaceId and id = $id),
     (select data from pgboss.job as letter where name = $deadLetters and source_id is not null and ${letterKey} = $id limit 1)) as envelope,
     (select retry_count from pgboss.job where name = $name and id = $id) as retries`,
  {
    params: { name: text, id: uuid, workspaceId: uuid.orNull, deadLetters: text },
    columns: { envelope: jsonb.as<JobEnvelope>(), retries: integer },
  },
)
/** The envelope of a job without an operation. */
export const findEnvelope = ({ name, id, workspace_id: workspaceId }: Pick<FoundJob, 'name' | 'id' | 'workspace_id'>) =>
  asUnprepared(selectEnvelope({ name, id, workspaceId, deadLetters: deadLetterQueue }))

/** The most jobs that are listed as caused by another. */
export const maxChildren = 100

const relatedColumns = { id: uuid.notNull, name: text.notNull, state, created_at: instant.notNull }
export type RelatedJob = RowOf<typeof relatedColumns>

const selectRelated = `select operation.id, operation.job as name, ${operationState} as state, operation.created_at
   from operations as operation ${stateJoins}`

const selectChildren = statement(
  'jobs.selectChildren',
  `${selectRelated} where operation.parent_id = $id order by operation.created_at, operation.id limit ${maxChildren + 1}`,
  { params: { id: uuid }, columns: relatedColumns },
)
const selectParent = statement('jobs.selectParent', `${selectRelated} where operation.id = $id`, {
  params: { id: uuid },
  columns: relatedColumns,
})
/** The tracked jobs that a job caused, oldest first, one more than are listed. */
export const findChildren = (id: string) => asUnprepared(selectChildren({ id }))
/** The tracked job of an id. */
export const findRelated = (id: string) => asUnprepared(selectParent({ id }))
