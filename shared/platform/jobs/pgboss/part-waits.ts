import type { Executor } from '#shared/platform/db/database.ts'
import { double, integer, jsonb, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { asUnprepared, statement } from '#shared/platform/db/statements/statement.ts'
import { endLastAttempt, messageOf } from '#shared/platform/jobs/operations/attempts.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** The wait of a job for a part, as its row in the queue keeps it. */
export interface PartWait {
  /** The name of the part (`kernel/process/part.ts`). */
  readonly part: string
  /** The attempts that the part has failed so far. */
  readonly waits: number
  /** When the first of them began. */
  readonly since: string
  /** The last failure. */
  readonly message: string
}

/** The columns of a fetched job that are read here. */
interface FetchedJob {
  readonly id: string
  readonly name: string
  readonly retryCount: number
  /** What the attempt before has left: a wait, or its failure. */
  readonly output?: object | null
  readonly startedOn: Date | string
}

/** The longest time until the next attempt, in seconds; it doubles from one second. */
const maxDelaySeconds = 300

/** The wait that ended with this attempt; undefined for a job that did not wait for a part. */
export function endedPartWait({ output }: Pick<FetchedJob, 'output'>): PartWait | undefined {
  return output && 'part' in output ? (output as PartWait) : undefined
}

/** When the job began to wait for a part; undefined when it never did. Kept when it fails for another reason in between. */
export const waitingSince = ({ output }: Pick<FetchedJob, 'output'>): string | undefined =>
  output && 'since' in output ? String(output.since) : undefined

/** Whether a job that a part has failed waits for it: for a day in all, after which such failures count as attempts. */
export function mayWaitForPart(job: Partial<Pick<FetchedJob, 'output' | 'startedOn'>>): boolean {
  const since = waitingSince(job)
  return since === undefined || job.startedOn === undefined || new Date(job.startedOn).getTime() - Date.parse(since) < dayMs
}

// Without `started_on` the next fetch does not count as a retry. A job in state `retry` is one whose heartbeats did not arrive during the
// outage; its attempt is this one, as no other has fetched it.
const setWaiting = statement(
  'jobs.setWaiting',
  `with waiting as (
     update pgboss.job
     set state = 'retry', started_on = null, heartbeat_on = null, start_after = now() + make_interval(secs => $delay), output = $wait::jsonb
     where name = $name and id = $id and state in ('active', 'retry') and retry_count = $retryCount returning true as is_held
   )
   update operations set status = 'queued', awaits_part = $awaitsPart, attempts = ${endLastAttempt('now()', '$message')}
   from waiting where id = $operationId and status in ('queued', 'running')`,
  {
    params: {
      name: text,
      id: uuid,
      retryCount: integer,
      delay: double,
      wait: jsonb,
      operationId: uuid.orNull,
      message: text,
      awaitsPart: text.orNull,
    },
  },
)
/**
 * Returns a fetched job to its queue until a part is back: it runs again after a second, later after up to five minutes, or when
 * `endPartWaits` or `probeParts` say so. The attempt does not count. Does nothing when another attempt has the job. Its operation, if it has
 * one, is queued again and names the part from the second wait on: the first takes a second, which a restart of the part may need. It does
 * not name the database, without which nobody could be answered. Returns whether it does, so that a waiting caller can be answered.
 */
export async function startPartWait(
  db: Executor,
  job: FetchedJob,
  operationId: string | null,
  part: string,
  error: unknown,
): Promise<boolean> {
  const { name, id, retryCount } = job
  const waits = (endedPartWait(job)?.waits ?? 0) + 1
  const since = waitingSince(job) ?? new Date(job.startedOn).toISOString()
  const message = messageOf(error)
  const wait: PartWait = { part, waits, since, message }
  const delay = Math.min(maxDelaySeconds, 2 ** (waits - 1))
  const awaitsPart = waits > 1 && part !== 'database' ? part : null
  await db.query(setWaiting({ name, id, retryCount, delay, wait: JSON.stringify(wait), operationId, message, awaitsPart }))
  return operationId !== null && awaitsPart !== null
}

const changed = { name: text.notNull }

// Unprepared: usually no job waits, and then thousands.
const setDue = statement(
  'jobs.setDue',
  `update pgboss.job as job set start_after = now()
   from (
     select name, id from pgboss.job
     where state = 'retry' and output ->> 'part' = $part and start_after > now() order by created_on for update skip locked
   ) as waiting
   where job.name = waiting.name and job.id = waiting.id returning job.name`,
  { params: { part: text }, columns: changed },
)
/** Makes all jobs due that wait for a part, since it is back. Returns the names of their queues. */
export const endPartWaits = async (db: Executor, part: string): Promise<readonly string[]> =>
  namesOf(await db.query(asUnprepared(setDue({ part }))))

const setOneDue = statement(
  'jobs.setOneDue',
  `update pgboss.job as job set start_after = now()
   from (
     select distinct on (output ->> 'part', name) name, id from pgboss.job
     where state = 'retry' and output ->> 'part' is not null and start_after > now()
     order by output ->> 'part', name, (output ->> 'waits')::integer, created_on, id
   ) as probe
   where job.name = probe.name and job.id = probe.id returning job.name`,
  { params: {}, columns: changed },
)
/**
 * Makes one job of each queue due for each part that is waited for: its attempt shows whether the part is back. The jobs take turns, so one
 * that fails for a reason of its own does not hold up the others. Returns the names of the queues.
 */
export const probeParts = async (db: Executor): Promise<readonly string[]> => namesOf(await db.query(asUnprepared(setOneDue())))

const setRetriesDue = statement(
  'jobs.setRetriesDue',
  `update pgboss.job set start_after = now()
   where name = $queue and state = 'retry' and start_after > now() and group_id = $workspaceId
     and data -> 'payload' ->> $key::text = any($values::text[])`,
  { params: { queue: text, workspaceId: text, key: text, values: texts } },
)
/** Makes those of a workspace's jobs due that wait for another attempt and have one of these values in their payload. */
export async function makeRetriesDue(
  db: Executor,
  queue: string,
  workspaceId: string,
  key: string,
  values: readonly string[],
): Promise<void> {
  await db.query(asUnprepared(setRetriesDue({ queue, workspaceId, key, values })))
}

const setQueueDue = statement(
  'jobs.setQueueDue',
  `update pgboss.job set start_after = now()
   where name = $queue and state = 'retry' and start_after > now() and ($workspaceId::text is null or group_id = $workspaceId)
   returning name`,
  { params: { queue: text, workspaceId: text.orNull }, columns: changed },
)
/** Makes the jobs of a queue due that wait for another attempt: all, or those of a workspace. Returns their number. */
export const makeQueueDue = async (db: Executor, queue: string, workspaceId: string | undefined): Promise<number> =>
  (await db.query(asUnprepared(setQueueDue({ queue, workspaceId })))).length

const namesOf = (rows: readonly { readonly name: string }[]): readonly string[] => [...new Set(rows.map(({ name }) => name))]
