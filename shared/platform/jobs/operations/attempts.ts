import { hostname } from 'node:os'
import type { Executor } from '#shared/platform/db/database.ts'
import { text, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { statement } from '#shared/platform/db/statements/statement.ts'
import { toUtcInstant } from '#shared/platform/kernel/time/instant.ts'

/** The most attempts of an operation that are kept, the newest. */
const maxKept = 20

/** The most characters of an attempt's error that are kept. */
const maxErrorLength = 500

/** Host and process id of this process, which tell the worker of an attempt also when it has ended. */
export const thisWorker = `${hostname()}:${process.pid}`

/** The message of a failure, as an attempt keeps it. */
export const messageOf = (error: unknown): string =>
  String((error as Error)?.message ?? error)
    .slice(0, maxErrorLength)
    .toWellFormed()
    .replaceAll('\0', '')

/** SQL of `attempts` with one more that begins now. `worker` is SQL. */
export const startAttempt = (worker: string): string =>
  `(case when jsonb_array_length(attempts) >= ${maxKept} then attempts - 0 else attempts end) ||
     jsonb_build_array(jsonb_build_object('worker', ${worker}::text, 'started_at', clock_timestamp()))`

/** SQL of `attempts` with an end of the last one, unless it has one. `at` and `error` are SQL. */
export const endLastAttempt = (at: string, error: string): string =>
  `case when attempts -> -1 is null or attempts -> -1 ? 'ended_at' then attempts
     else jsonb_set(attempts, '{-1}', attempts -> -1 || jsonb_build_object('ended_at', ${at}, 'error', left(${error}::text, ${maxErrorLength}))) end`

const setAttemptEnded = statement(
  'jobs.setAttemptEnded',
  `update operations set attempts = ${endLastAttempt('clock_timestamp()', '$error')}
   where id = $id and finished_at is null and attempts -> -1 ->> 'worker' = $worker`,
  { params: { id: uuid, worker: text, error: text } },
)
/** Records how an attempt of `worker` ended after which the operation stays open. */
export async function recordAttemptEnd(db: Executor, id: string, worker: string, error: unknown): Promise<void> {
  await db.query(setAttemptEnded({ id, worker, error: messageOf(error) }))
}

/** An attempt as the column keeps it: without an end while it runs, when its worker was lost, or when it completed the operation. */
export interface StoredAttempt {
  readonly worker: string
  readonly started_at: string
  readonly ended_at?: string
  readonly error?: string | null
}

/** An attempt as operators see it. */
interface AttemptView {
  readonly worker: string
  readonly started_at: string
  readonly ended_at: string | null
  readonly error: string | null
}

const lost = 'its worker was lost'

/** The attempts of an operation, oldest first. The last one ends with the operation; one that another followed without an end was lost. */
export function viewAttempts(
  attempts: readonly StoredAttempt[],
  { finished_at, error }: { readonly finished_at: string | null; readonly error: { readonly message: string } | null },
): AttemptView[] {
  return attempts.map(({ worker, started_at, ended_at, error: ownError = null }, index) => {
    const isLast = index === attempts.length - 1
    const base = { worker, started_at: instantOf(started_at) }
    if (ended_at !== undefined) return { ...base, ended_at: instantOf(ended_at), error: ownError }
    if (!isLast) return { ...base, ended_at: null, error: lost }
    return { ...base, ended_at: finished_at, error: error?.message ?? null }
  })
}

/** An instant that PostgreSQL wrote as JSON, in the form of the API. */
const instantOf = (text: string): string => toUtcInstant(text) ?? text
