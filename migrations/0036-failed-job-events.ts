import type { Knex } from 'knex'

/** Events of jobs that failed. Locks `operations` exclusively for a moment; it is not rewritten. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    -- What filed the job, for its event; null for jobs of earlier releases.
    alter table operations add column if not exists cause jsonb;

    -- An operation fails by its worker, by an operator, by its caller that waits no longer, or because its worker was lost. All change the row.
    create or replace function announce_failed_job() returns trigger language plpgsql as $$
    begin
      insert into event_inbox (workspace_id, event_id, type, source, event, topic, subject_id, subject, snapshot, cause)
      select new.workspace_id, uuidv7(), 'jobs.failed', 'jobs', 'failed', '', new.id, jsonb_build_object('id', new.id),
        jsonb_build_object('kind', new.kind, 'status', 'failed', 'code', coalesce(new.error ->> 'code', 'INTERNAL')),
        coalesce(new.cause, jsonb_build_object(
          'actorId', new.principal_id, 'requestId', new.request_id, 'depth', 0,
          'actorType', case
            when new.principal_id is null then 'system'
            when exists (select from service_accounts where workspace_id = new.workspace_id and id = new.principal_id) then 'service'
            else 'user' end
        ))
      from feed_heads where workspace_id = new.workspace_id;
      return null;
    end $$;
    create or replace trigger operations_announce_failure after update on operations for each row
      when (new.status = 'failed' and old.status <> 'failed' and new.workspace_id is not null)
      execute function announce_failed_job();
  `)
}
