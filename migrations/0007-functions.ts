import type { Knex } from 'knex'

/** Jobs of which exactly so many run at a time in a workspace; functions, their versions, runs and secrets. New tables only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Jobs that share a gate. Those with a slot have been let in and stand in pg-boss; the others wait here, in the order of lane and place.
    -- The unique slot is what keeps one too many from running, whoever makes a mistake.
    create table gated_jobs (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      gate text not null,
      queue text not null,
      slots smallint not null,
      lane smallint not null,
      place bigint generated always as identity,
      slot smallint check (slot between 1 and slots),
      envelope jsonb,
      constraint gated_jobs_slot unique (workspace_id, gate, slot)
    );
    create index gated_jobs_waiting on gated_jobs (workspace_id, gate, lane, place) where slot is null;
    create index gated_jobs_let_in on gated_jobs (id) where slot is not null;

    -- Lets waiting jobs of a workspace in, as far as slots are free, and tells whether it did: the row in pg-boss is the one that it would
    -- make itself of a job without options. One at a time, so that neither a job nor a slot is overlooked. Its transaction need not wait
    -- for the disk: whatever comes of a job that was let in is written after it, and is lost with it or not at all.
    create function admit_jobs(workspace uuid, gate_name text) returns boolean language plpgsql as $$
    begin
      if not exists (select from gated_jobs where workspace_id = workspace and gate = gate_name and slot is null) then
        return false;
      end if;
      perform set_config('synchronous_commit', 'off', true);
      perform pg_advisory_xact_lock(hashtextextended(gate_name || ' ' || workspace, 0));
      with waiting as (
        select id, slots, row_number() over (order by lane, place) as turn
        from (
          select id, slots, lane, place from gated_jobs
          where workspace_id = workspace and gate = gate_name and slot is null order by lane, place limit 32
        ) as first_ones
      ),
      free as (
        select number, row_number() over (order by number) as turn
        from generate_series(1, (select slots from waiting where turn = 1)) as number
        where number not in (select slot from gated_jobs where workspace_id = workspace and gate = gate_name and slot is not null)
      ),
      admitted as (
        update gated_jobs as job set slot = free.number, envelope = null
        from waiting join free using (turn) where job.id = waiting.id
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

    -- Whoever settles an operation, in whatever way, frees the slot of its job in the same transaction.
    create function leave_gate() returns trigger language plpgsql as $$
    begin
      delete from gated_jobs where id = new.id;
      return null;
    end $$;
    create trigger operations_leave_gate after update on operations
      for each row when (old.finished_at is null and new.finished_at is not null) execute function leave_gate();

    create table functions (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      description text not null default '',
      source text not null,
      timeout_ms integer not null check (timeout_ms between 100 and 30000),
      enabled boolean not null default true,
      http_enabled boolean not null default false,
      -- Who last changed the source: others that run the function later do so with the lesser of both rights.
      author_id uuid not null,
      version integer not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create trigger functions_changed after insert or update or delete on functions for each row execute function note_change('workspace_id');

    -- Every source that a function has had, its present one included.
    create table function_versions (
      workspace_id uuid not null,
      function_id uuid not null,
      version integer not null,
      source text not null,
      author_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, function_id, version),
      foreign key (workspace_id, function_id) references functions on delete cascade
    );

    -- Runs outlive their function: deleting one must not wait for the deletion of a million rows, which a sweep does in time.
    create table function_runs (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      function_id uuid not null,
      version integer not null,
      parent_id uuid,
      actor_id uuid,
      actor_type text not null,
      request_id text not null,
      ending text not null check (ending in ('returned', 'threw', 'timed_out', 'out_of_memory', 'interrupted')),
      error text,
      logs json not null,
      steps json not null,
      result_bytes integer not null,
      duration_ms integer not null,
      finished_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create index function_runs_function on function_runs (workspace_id, function_id, id desc);
    create index function_runs_finished on function_runs (finished_at);

    -- Sealed: the database alone cannot read them.
    create table function_secrets (
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      value bytea not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, name)
    );
  `)
}
