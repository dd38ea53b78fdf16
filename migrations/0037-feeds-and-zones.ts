import type { Knex } from 'knex'

/** Keeps feeds of calendars as files, and finds events whose times an older release of the time zone data made. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table calendar_feeds (
      workspace_id uuid not null,
      calendar_id uuid not null,
      -- How the calendar was when its file was made.
      tag text not null,
      blob_id uuid not null,
      size_bytes bigint not null,
      primary key (workspace_id, calendar_id),
      foreign key (workspace_id, calendar_id) references calendars on delete cascade
    );
    create trigger calendar_feeds_hold_blob after insert or delete or update of blob_id on calendar_feeds
      for each row execute function hold_blob();

    create index calendar_events_zones on calendar_events (zone_release, (coalesce(upper(extent), 'infinity'::timestamptz)))
      where start_at is not null;
  `)
}
