import type { Knex } from 'knex'

/**
 * Keeps when a calendar changed last, for `Last-Modified` of its feed. The column and the trigger take a brief ACCESS EXCLUSIVE lock on
 * `calendar_states`; the default is evaluated once, so no row is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`set local lock_timeout = '5s'`)
  await knex.raw(`
    alter table calendar_states add column changed_at timestamptz not null default now();

    create function note_calendar_time() returns trigger language plpgsql as $$
    begin
      new.changed_at := greatest(clock_timestamp(), old.changed_at);
      return new;
    end $$;
    create trigger calendar_states_changed before update of version on calendar_states
      for each row when (new.version <> old.version) execute function note_calendar_time();
  `)
}
