import type { Knex } from 'knex'

/**
 * Lets what goes on after an operation be stored with it, and lets a job wait for others without a worker. Adds nullable columns to
 * operations and a trigger, for which it takes the table for itself for a moment.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table operations
      -- What is filed once the operation has settled: {queue, envelope}, and the operation that waits for it, if one does.
      add column continuation jsonb,
      -- How many operations it waits for, while it is parked; null when it is not.
      add column awaits integer,
      -- The job that does it, where that is another than the one of its own id: an operation that was parked goes on in a new job.
      add column job_id uuid;

    -- Whoever settles an operation, in whatever way, files in the same transaction what goes on with it: the row in pg-boss is the one that it
    -- would make itself of a job without options. Of those that one operation waits for, the last files it.
    create function go_on() returns trigger language plpgsql
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
    create trigger operations_go_on after update on operations
      for each row when (old.finished_at is null and new.finished_at is not null and new.continuation is not null)
      execute function go_on();
  `)
}
