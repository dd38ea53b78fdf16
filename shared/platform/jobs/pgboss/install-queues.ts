import { PgBoss } from 'pg-boss'
import type { Database } from '#shared/platform/db/database.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { requireTableVersion } from '#shared/platform/jobs/pgboss/table-version.ts'

/** Installs the tables of pg-boss and creates every declared queue. Part of a release, never of a process start. */
export async function installJobQueues(database: Database, jobs: readonly AnyJob[], deadLetters: string): Promise<void> {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => database.executeSql(text, values) },
    supervise: false,
    schedule: false,
  })
  boss.on('error', () => undefined)
  await boss.start()
  requireTableVersion(await boss.schemaVersion())
  await pinPlannerStatistics(database)
  // The jobs that wait for a part (part-waits.ts). No other query uses it, so it is empty as long as nothing is away.
  await database.query({
    text: `create index if not exists job_part_waits on pgboss.job_common ((output ->> 'part'))
      where state = 'retry' and output ->> 'part' is not null`,
  })
  // The dead letter of a job (operator/state.ts). Only dead letters have a source, so no other job costs more.
  await database.query({
    text: `create index if not exists job_letters on pgboss.job_common ((coalesce((data ->> 'operationId')::uuid, source_id)))
      where source_id is not null`,
  })
  // The dead letters by the kind of their job, for counts of them (counts/stopped-jobs.ts).
  await database.query({
    text: `create index if not exists job_letters_source on pgboss.job_common (source_name)
      where name = '${deadLetters}' and state = 'created' and source_id is not null`,
  })
  await followLetters(database)
  await boss.createQueue(deadLetters, { retryLimit: 0 })
  for (const { name, retry, timeoutSeconds } of jobs) {
    const options = {
      notify: false,
      retryLimit: retry.limit,
      retryDelay: retry.delaySeconds,
      retryBackoff: true,
      expireInSeconds: timeoutSeconds,
      // A killed worker's job is fetched again once its heartbeat is this old. By default jobs have no heartbeat and are fetched again
      // after 15 minutes.
      heartbeatSeconds: 10,
      deleteAfterSeconds: 60 * 60,
      deadLetter: deadLetters,
    }
    await boss.createQueue(name, options)
    await boss.updateQueue(name, options)
  }
  await boss.stop({ graceful: false, close: false })
}

/**
 * Pins the planner statistics of the queue table, which goes from empty to thousands of waiting jobs and back within seconds. With outdated
 * statistics a fetch reads all waiting jobs, and again for each job that it fetches: 187 ms for 100 of 6,000. Without statistics the
 * planner uses the current table size; with n_distinct 2 and correlation 1 it uses the index of waiting jobs: 1 ms, also for 100 of
 * 100,000.
 */
async function pinPlannerStatistics(database: Database): Promise<void> {
  await database.query({
    text: `alter table pgboss.job_common
      alter column name set statistics 0, alter column state set statistics 0,
      alter column blocked set statistics 0, alter column start_after set statistics 0`,
  })
  await database.query({
    text: `select pg_restore_attribute_stats('schemaname', 'pgboss', 'relname', 'job_common', 'attname', 'name', 'inherited', false,
      'null_frac', 0::real, 'avg_width', 20, 'n_distinct', 2::real, 'correlation', 1::real)`,
  })
}

/**
 * Keeps the rows of dead letters in `job_failures` (migration 0030). The first time, the letters of before are copied: writers of the queue
 * table wait meanwhile, about a second for 50,000.
 */
async function followLetters(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query({ text: `set local lock_timeout = '10s'` })
    const { length } = await tx.query({ text: `select from pg_trigger where tgname = 'job_add_letter'` })
    if (length > 0) return
    await tx.query({
      text: `create trigger job_delete_letter after delete on pgboss.job_common for each row
        when (old.source_id is not null) execute function follow_letter()`,
    })
    await tx.query({
      text: `create trigger job_add_letter after insert on pgboss.job_common for each row
        when (new.source_id is not null) execute function follow_letter()`,
    })
    await tx.query({
      text: `insert into job_failures (id, is_letter, created_at, job, workspace_id, principal_id, request_id, text)
        select letter.source_id, true, coalesce(letter.source_created_on, letter.created_on), letter.source_name,
          (letter.data ->> 'workspaceId')::uuid, (letter.data -> 'cause' ->> 'actorId')::uuid,
          coalesce(letter.data -> 'cause' ->> 'requestId', ''), failure_text('INTERNAL', letter.output ->> 'message', null)
        from pgboss.job_common as letter
        where letter.source_id is not null
          and not exists (select from operations where id = coalesce((letter.data ->> 'operationId')::uuid, letter.source_id))
        on conflict (id) do nothing`,
    })
  })
}
