import type { Knex } from 'knex'

/** Jobs of the platform: operations, their files, and gates. The queues are tables of pg-boss, in the schema `pgboss`. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- An operation is a job that a caller may wait for or look up.
    create table operations (
      id uuid primary key,
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      job text not null,
      -- The job in pg-boss, where it is not the one with the operation's id: a parked operation continues in a new job.
      job_id uuid,
      principal_id uuid,
      request_id text not null,
      status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed')),
      progress json,
      checkpoint json,
      result json,
      error json,
      file_id uuid,
      -- The number of operations that it waits for while it is parked; null when it is not parked.
      awaits integer,
      -- The job to enqueue when it completes, {queue, envelope}, and the parked operation that waits for it, if there is one.
      continuation jsonb,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz
    ) with (
      -- Statistics of a table that was small when it was analyzed make the planner read the whole table for each lookup by id, and a
      -- connection keeps that plan: 16 ms per step of a job beside 100,000 operations. Without statistics it uses the index, so the first
      -- analysis comes late.
      autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_threshold = 5000
    );
    -- By finished_at and not by status: lookups by id state a status, and where few operations were open when the planner looked, it used an
    -- index with that condition for them and read all open operations, 12 ms beside 100,000.
    create index operations_unfinished on operations (created_at) where finished_at is null;
    create index operations_finished on operations (finished_at) where finished_at is not null;
    create index operations_workspace on operations (workspace_id);

    -- Enqueues the continuation of a completed operation in the transaction that completes it, with the row that pg-boss itself makes of a
    -- job without options. When several operations are awaited, the last one enqueues it.
    create function enqueue_continuation() returns trigger language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off as $$
    declare
      waiting uuid := (new.continuation ->> 'operation')::uuid;
      next_job uuid := uuidv7();
      left_over integer := 0;
    begin
      if waiting is not null then
        update operations set awaits = nullif(awaits - 1, 0), job_id = case when awaits = 1 then next_job else job_id end
        where id = waiting and awaits > 0 and finished_at is null
        returning coalesce(awaits, 0) into left_over;
        if not found or left_over > 0 then
          return null;
        end if;
      end if;
      insert into pgboss.job (
        id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select next_job, queue.name, new.continuation -> 'envelope', new.continuation -> 'envelope' ->> 'workspaceId',
        pgboss.job_now(), pgboss.job_now(), pgboss.job_now() + queue.retention_seconds * interval '1s', queue.expire_seconds,
        queue.deletion_seconds, queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.policy,
        queue.dead_letter, queue.heartbeat_seconds
      from pgboss.queue as queue where queue.name = new.continuation ->> 'queue';
      return null;
    end $$;
    create trigger operations_enqueue_continuation after update on operations
      for each row when (old.finished_at is null and new.finished_at is not null and new.continuation is not null)
      execute function enqueue_continuation();

    -- Files that a request uploads for a job, or that a job makes for a download.
    create table job_files (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      content_type text not null,
      name text not null default '',
      headers jsonb not null default '{}',
      size_bytes bigint not null,
      blob_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create index job_files_created on job_files (created_at);
    create trigger job_files_hold_blob after insert or delete or update of blob_id on job_files for each row execute function hold_blob();

    -- Jobs of gates: a gate has a number of slots in each workspace. Jobs with a slot are in pg-boss; the others wait here, in the order of
    -- priority and position. The unique slot guarantees that no more jobs run than there are slots.
    create table gated_jobs (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      gate text not null,
      queue text not null,
      slots smallint not null,
      -- Lower first.
      priority smallint not null,
      position bigint generated always as identity,
      slot smallint check (slot between 1 and slots),
      envelope jsonb
    );
    -- Not a constraint, which would contain the waiting jobs too: the planner used it to find them and then sorted all of them.
    create unique index gated_jobs_slot on gated_jobs (workspace_id, gate, slot) where slot is not null;
    create index gated_jobs_waiting on gated_jobs (workspace_id, gate, priority, position) where slot is null;
    create index gated_jobs_admitted on gated_jobs (id) where slot is not null;

    -- Gives free slots to waiting jobs and returns whether it gave one; the row in pg-boss is the one that pg-boss itself makes of a job
    -- without options. One caller at a time, so that no job and no slot is missed. The commit does not wait for the disk: results of an
    -- admitted job are committed later, so they are lost with the admission or not at all.
    -- The table grows from empty to thousands of jobs within seconds, and a connection keeps the first plan that it made: beside 100,000 jobs
    -- of one workspace, admitting one of another took 47 ms. The settings and the array of ids leave only plans by index.
    create function admit_jobs(workspace uuid, gate_name text) returns boolean language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
    begin
      if not exists (select from gated_jobs where workspace_id = workspace and gate = gate_name and slot is null) then
        return false;
      end if;
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended(gate_name || ' ' || workspace, 0));
      with waiting as (
        select id, slots, row_number() over (order by priority, position) as rank
        from (
          select id, slots, priority, position from gated_jobs
          where workspace_id = workspace and gate = gate_name and slot is null order by priority, position limit 32
        ) as oldest
      ),
      free as (
        select number, row_number() over (order by number) as rank
        from generate_series(1, (select slots from waiting where rank = 1)) as number
        where number not in (select slot from gated_jobs where workspace_id = workspace and gate = gate_name and slot is not null)
      ),
      assigned as materialized (select id, number from waiting join free using (rank)),
      admitted as (
        update gated_jobs as job set slot = (select number from assigned where assigned.id = job.id), envelope = null
        where id = any(array(select id from assigned))
        returning job.id, job.queue, job.workspace_id, old.envelope
      )
      insert into pgboss.job (
        id, name, data, group_id, start_after, created_on, keep_until, expire_seconds, deletion_seconds,
        retry_limit, retry_delay, retry_backoff, retry_delay_max, policy, dead_letter, heartbeat_seconds
      )
      select admitted.id, queue.name, admitted.envelope, admitted.workspace_id, pgboss.job_now(), pgboss.job_now(),
        pgboss.job_now() + queue.retention_seconds * interval '1s', queue.expire_seconds, queue.deletion_seconds,
        queue.retry_limit, queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.policy, queue.dead_letter,
        queue.heartbeat_seconds
      from admitted join pgboss.queue as queue on queue.name = admitted.queue;
      return found;
    end $$;

    -- A completed operation releases the slot of its job in the same transaction.
    create function release_gate_slot() returns trigger language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off as $$
    begin
      delete from gated_jobs where id = new.id;
      return null;
    end $$;
    create trigger operations_release_gate_slot after update on operations
      for each row when (old.finished_at is null and new.finished_at is not null) execute function release_gate_slot();

    -- Jobs that were taken from their queue until their workspace is active, or their app on, again. A due task of the kind 'jobs.deferred' puts them
    -- back.
    create table deferred_jobs (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      queue text not null,
      envelope jsonb not null,
      primary key (workspace_id, id)
    );
  `)
}
