import type { Knex } from 'knex'

/**
 * Keeps the way to one job's rows short, however many wait and whatever the planner saw last. Holds back jobs that are filed, begin or settle
 * while an index of open operations is made, for which all that are kept are read once.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- Where hardly anything was open when the planner looked, it took this index to find an operation by its id: in a burst every start and
    -- every end of a job read all that were open, 12 ms beside 100,000. No lookup by id says that it has not finished.
    create index operations_unfinished on operations (created_at) where finished_at is null;
    drop index operations_open;

    -- Where the planner saw operations fill a few pages, it reads all of them to find one, and a connection keeps that plan: in the first burst
    -- of a new installation every step of a job took 16 ms beside 100,000. Without having looked it takes the index, so it looks at some thousands.
    alter table operations set (
      autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = 5000, autovacuum_analyze_threshold = 5000
    );

    -- The same function but for "admitted": a join with the waiting jobs began, by the plan of an empty table, with all of them, and let one
    -- in beside 100,000 in 70 ms. An array of ids leaves no choice.
    create or replace function admit_jobs(workspace uuid, gate_name text) returns boolean language plpgsql
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
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
      given as materialized (select id, number from waiting join free using (turn)),
      admitted as (
        update gated_jobs as job set slot = (select number from given where given.id = job.id), envelope = null
        where id = any(array(select id from given))
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
  `)
}
