import type { Knex } from 'knex'

/** Lets calendars ring again whose owner has come back: what had been set for them was dropped meanwhile. Replaces a function, locks nothing. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create or replace function keep_calendars() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        update calendars set left_at = now() where workspace_id = old.workspace_id and owner_id = old.user_id;
      else
        with back as (
          update calendars set left_at = null where workspace_id = new.workspace_id and owner_id = new.user_id and left_at is not null
          returning id
        )
        insert into due_work (workspace_id, kind, subject, at) select new.workspace_id, 'calendar', id::text, now() from back
        on conflict on constraint due_work_key do update set at = least(due_work.at, excluded.at);
      end if;
      return null;
    end $$;
  `)
}
