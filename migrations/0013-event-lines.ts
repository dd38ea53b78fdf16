import type { Knex } from 'knex'

/**
 * Lets the changes of each workspace wait in a line of their own, so that they are handed on in turn. Takes event_outbox for itself while its
 * index is made anew, which holds back changes that somebody listens to for as long.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table event_outbox drop constraint event_outbox_pkey, add primary key (workspace_id, id);

    -- The table goes from empty to a flood within seconds, and a connection keeps the plan that it made first: beside 100,000 changes it read
    -- and sorted all of them for every lot, in 360 ms. There is an index for every step.

    -- The workspaces whose changes wait, from the one after a given one on: a step for each, however long its line is.
    create function event_lines(after uuid, at_most integer) returns setof uuid
    language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      with recursive line as (
        (select workspace_id, 1 as place from event_outbox where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, line.place + 1
        from line
        cross join lateral (
          select workspace_id from event_outbox where workspace_id > line.workspace_id order by workspace_id limit 1
        ) as next
        where line.place < at_most
      )
      select workspace_id from line
    $$;

    -- Takes the oldest changes of some workspaces that nobody else is taking, so many of each at most; of those with a subscriber that is not
    -- known none.
    create function take_changes(known text[], workspaces uuid[], of_each integer) returns setof event_outbox
    language sql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      delete from event_outbox
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as line (workspace_id)
        cross join lateral (
          select event_outbox.ctid from event_outbox
          where event_outbox.workspace_id = line.workspace_id
            and not exists (select from jsonb_object_keys(listeners) as subscriber where subscriber <> all(known))
          order by id limit of_each
          for update skip locked
        ) as waiting
      ))
      returning event_outbox.*
    $$;
  `)
}
