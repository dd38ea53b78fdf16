import type { Knex } from 'knex'

/** Changes on their way to those who listen wait in a table of their own. What waited as jobs until now goes there. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A change that somebody listens to pays for this row in its own statement, so it is as slim as can be: a job of pg-boss has eleven
    -- indexes and two foreign keys to one row of its queue, and made such a change cost the database twice as much.
    create table event_outbox (
      id uuid primary key default uuidv7(),
      workspace_id uuid not null,
      object_type text not null,
      event text not null,
      entry_ids uuid[] not null,
      -- The listeners' ids by subscriber, as they were when the change was made.
      listeners jsonb not null,
      cause jsonb not null
    );

    drop function dispatch_changes(uuid, text, text, uuid[], jsonb);

    do $$
    begin
      if to_regclass('pgboss.job') is not null then
        insert into event_outbox (workspace_id, object_type, event, entry_ids, listeners, cause)
        select (payload ->> 'workspaceId')::uuid, payload ->> 'objectType', payload ->> 'event',
          array(select id::uuid from jsonb_array_elements_text(payload -> 'entryIds') as id), payload -> 'listeners', cause
        from (
          select data -> 'payload' as payload, data -> 'cause' as cause from pgboss.job
          where name = 'events.dispatch' and state in ('created', 'retry', 'active')
          order by created_on, id
        ) as waiting;
        delete from pgboss.job where name = 'events.dispatch';
        delete from pgboss.queue where name = 'events.dispatch';
      end if;
    end $$;
  `)
}
