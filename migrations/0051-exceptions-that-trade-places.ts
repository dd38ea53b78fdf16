import type { Knex } from 'knex'

/**
 * Lets one statement exchange the occurrences that exceptions of a series stand for: uniqueness is checked at its end, which a unique index
 * cannot do, and a unique constraint cannot be partial. Takes ACCESS EXCLUSIVE on calendar_events while two indexes of exceptions are built.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '5s';
    drop index calendar_events_exception;
    drop index calendar_events_exception_day;
    alter table calendar_events
      add constraint calendar_events_exception
        exclude using btree (workspace_id with =, series_id with =, original_start with =) where (original_start is not null)
        deferrable initially immediate,
      add constraint calendar_events_exception_day
        exclude using btree (workspace_id with =, series_id with =, original_date with =) where (original_date is not null)
        deferrable initially immediate;
  `)
}
