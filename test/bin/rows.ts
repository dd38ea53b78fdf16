import pg from 'pg'
import { hexOf } from '#shared/core/types/tables/table-names.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Db } from '#test/support/rows.ts'

/** Adds a workspace that no worker has set up yet. */
export async function addUnreadyWorkspace(db: Db, id: string, ownerId: string): Promise<void> {
  await db.query(`insert into workspaces (id, name, plan, owner_id) values ($1, 'New', 'paid', $2)`, [id, ownerId])
}

/** Adds a job that waits in the queue of this name. */
export async function addWaitingJob(databaseUrl: string, name: string): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  await client.query(`insert into pgboss.job (name, data) values ($1, '{}')`, [name])
  await client.end()
}

/** Deletes a record type once the first chunk of an import into it is done. */
export async function deleteTypeAfterFirstChunk(db: Db, workspaceId: string, key: string): Promise<void> {
  const name = `forget_${hexOf(workspaceId)}`
  await db.query(`
    create function ${name}() returns trigger language plpgsql as $$
    begin
      if new.workspace_id = '${workspaceId}' and new.status = 'done' then
        delete from record_types where workspace_id = new.workspace_id and key = '${key}';
      end if;
      return new;
    end $$;
    create trigger forget after update on operations for each row execute function ${name}()`)
}

/** Makes each commit of a new workspace wait until `release`. */
export async function holdWorkspaceCommits(db: pg.Pool) {
  await db.query(`
    create function wait_for_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(4711); return null; end';
    create constraint trigger waits after insert on workspaces deferrable initially deferred for each row execute function wait_for_test()`)
  const holder = await db.connect()
  await holder.query('select pg_advisory_lock(4711)')
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory' and query = 'commit'`
  const ofCommands = `select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and application_name like 'kontor command%'`
  return {
    /** Resolves once a commit waits; `check` runs before each look. */
    reached: (check: () => unknown) =>
      eventually(async () => {
        check()
        return (await db.query(waiting)).rowCount !== 0
      }),
    /** Ends the sessions of commands, as PostgreSQL does once it notices that their process is gone. */
    endCommands: () => db.query(ofCommands),
    release: async () => {
      await holder.query('select pg_advisory_unlock(4711)')
      holder.release()
    },
  }
}

/** The ids of all workspaces. */
export async function listWorkspaceIds(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>('select id from workspaces order by id')
  return rows.map(({ id }) => id)
}

/** The number of access keys of a workspace and of sessions of its members. */
export async function countCredentials(db: Db, workspaceId: string): Promise<number> {
  const { rowCount } = await db.query(
    `select from access_keys where workspace_id = $1
     union all select from sessions join members using (user_id) where workspace_id = $1`,
    [workspaceId],
  )
  return rowCount ?? 0
}

/** The numbers of rows that belong to a workspace, by table, jobs included; tables without any are left out. */
export async function countRowsOfWorkspace(db: Db, workspaceId: string): Promise<Record<string, number>> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select class.relname::text as name from pg_class as class join pg_attribute as attribute on attribute.attrelid = class.oid
     where class.relnamespace = 'public'::regnamespace and class.relkind = 'r' and attribute.attname = 'workspace_id'
     order by class.relname`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables) counts[name] = (await db.query(`select from ${name} where workspace_id = $1`, [workspaceId])).rowCount ?? 0
  counts.jobs = (await db.query(`select from pgboss.job where data ->> 'workspaceId' = $1`, [workspaceId])).rowCount ?? 0
  counts.workspaces = (await db.query('select from workspaces where id = $1', [workspaceId])).rowCount ?? 0
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}

/** The schemas of the database. */
export async function listSchemas(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('select nspname::text as name from pg_namespace')
  return rows.map(({ name }) => name)
}

/** Adds a worker that was killed a minute ago while it ran this job. */
export async function addDeadProcess(db: Db, job: object): Promise<void> {
  await db.query(
    `insert into processes (id, kind, pools, host, pid, release, started_at, heartbeat_at, skew_ms, memory_bytes, running)
     values (gen_random_uuid(), 'worker', '{data}', 'elsewhere', 1, 'old', now() - interval '1 hour', now() - interval '1 minute', 7200000, 1048576, $1)`,
    [JSON.stringify([job])],
  )
}

/** Makes open runs of flows as old as those whose job was lost. */
export async function ageRuns(db: Db): Promise<void> {
  await db.query(`update flow_runs set touched_at = now() - interval '1 hour' where finished_at is null`)
}

/** Makes the table of the mark anew with its rows, as a restored dump does. */
export async function restoreMark(db: Db): Promise<void> {
  await db.query(`
    alter table restored_copy rename to restored_original;
    create table restored_copy (like restored_original including all);
    insert into restored_copy select * from restored_original;
    drop table restored_original`)
}

/** Removes the mark of a restored copy. */
export async function deleteMark(db: Db): Promise<void> {
  await db.query('delete from restored_copy')
}

/** Removes the sizes and digests of all blobs, as of those that earlier releases wrote. */
export async function forgetMeasures(db: Db): Promise<void> {
  await db.query('update blobs set size_bytes = null, sha256 = null')
}

/** How many blobs that rows hold have no digest. */
export async function countUnmeasured(db: Db): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*)::integer as count from blobs where holders > 0 and sha256 is null')
  return rows[0]?.count ?? 0
}

/** The id of the blob of a file. */
export async function readBlobId(db: Db, workspaceId: string, key: string): Promise<string> {
  const { rows } = await db.query<{ blob_id: string }>('select blob_id from drive_objects where workspace_id = $1 and key = $2', [
    workspaceId,
    key,
  ])
  return rows[0]?.blob_id ?? ''
}
