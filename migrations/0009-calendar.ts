import type { Knex } from 'knex'

/** Calendars, their events with guests and bookings, shares, feeds, and the counts that limit their mail. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table calendars (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      key text not null,
      kind text not null check (kind in ('personal', 'org', 'records')),
      -- Of a personal calendar: its owner.
      owner_id uuid references users on delete cascade,
      is_primary boolean not null default false,
      name text not null,
      description text not null default '',
      color text not null default '',
      visibility text not null default 'none' check (visibility in ('none', 'busy', 'read')),
      timezone text not null,
      settings jsonb not null default '{}',
      -- The secret of the feed's address: found by its SHA-256, and encrypted to be shown again.
      feed_hash bytea,
      feed_sealed bytea,
      -- Since when the owner is no member any more: the calendar is unreachable, and deleted after 30 days.
      left_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint calendars_key unique (workspace_id, key),
      check ((kind = 'personal') = (owner_id is not null)),
      check ((feed_hash is null) = (feed_sealed is null))
    );
    create unique index calendars_primary on calendars (workspace_id, owner_id) where is_primary;
    create index calendars_owner on calendars (workspace_id, owner_id) where owner_id is not null;
    create unique index calendars_feed on calendars (workspace_id, feed_hash) where feed_hash is not null;
    create index calendars_left on calendars (left_at) where left_at is not null;
    -- Kontor itself creates the team's calendar and each member's primary one; unreachable ones do not count either.
    create trigger calendars_cap after insert on calendars for each row when (not new.is_primary and new.key <> 'team')
      execute function limit_rows('200', 'not is_primary and key <> ''team'' and left_at is null');

    -- A member who leaves cannot reach its calendars, until it returns. Reminders that were dropped meanwhile are scheduled again.
    create function follow_member_calendars() returns trigger language plpgsql as $$
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
    create trigger members_follow_calendars after insert or delete on members for each row execute function follow_member_calendars();

    -- What changes with every event: a separate row, so that the calendar's own row does not change.
    create table calendar_states (
      workspace_id uuid not null,
      calendar_id uuid not null,
      -- Grows with each change of the calendar or its events; triggers below keep both columns.
      version bigint not null default 1,
      changed_at timestamptz not null default now(),
      -- Reminders and triggers up to this time have been fired.
      fired_until timestamptz,
      primary key (workspace_id, calendar_id),
      foreign key (workspace_id, calendar_id) references calendars on delete cascade
    );

    create function add_calendar_state() returns trigger language plpgsql as $$
    begin
      insert into calendar_states (workspace_id, calendar_id) values (new.workspace_id, new.id);
      return null;
    end $$;
    create trigger calendars_added after insert on calendars for each row execute function add_calendar_state();

    create function raise_calendar_version() returns trigger language plpgsql as $$
    begin
      update calendar_states set version = version + 1 where workspace_id = new.workspace_id and calendar_id = new.id;
      return null;
    end $$;
    create trigger calendars_changed after update on calendars for each row execute function raise_calendar_version();

    -- The time is never set back: a feed's Last-Modified must not decrease.
    create function set_calendar_changed_at() returns trigger language plpgsql as $$
    begin
      new.changed_at := greatest(clock_timestamp(), old.changed_at);
      return new;
    end $$;
    create trigger calendar_states_changed before update of version on calendar_states
      for each row when (new.version <> old.version) execute function set_calendar_changed_at();

    create table calendar_shares (
      workspace_id uuid not null,
      calendar_id uuid not null,
      id uuid not null,
      user_id uuid not null,
      level text not null check (level in ('busy', 'read', 'write', 'manage')),
      created_at timestamptz not null default now(),
      primary key (workspace_id, calendar_id, id),
      constraint calendar_shares_user unique (workspace_id, calendar_id, user_id),
      foreign key (workspace_id, calendar_id) references calendars on delete cascade,
      foreign key (workspace_id, user_id) references members (workspace_id, user_id) on delete cascade
    );
    create index calendar_shares_of_user on calendar_shares (workspace_id, user_id);

    create table calendar_events (
      workspace_id uuid not null,
      id uuid not null,
      calendar_id uuid not null,
      uid text not null,
      -- Of an exception: its series, and the time or day that the rule gave it.
      series_id uuid,
      original_start timestamptz,
      original_date date,
      -- Deleted and not only cancelled: it is shown nowhere.
      is_removed boolean not null default false,
      title text not null,
      description text not null default '',
      location text not null default '',
      color text not null default '',
      -- Instants, or for an all-day event dates, the second one exclusive. Repeats follow the clock of the zone.
      start_at timestamptz,
      end_at timestamptz,
      start_date date,
      end_date date,
      timezone text not null,
      -- The zone's clock at the start, and the release of the time zone data by which it was computed.
      wall_start timestamp not null,
      zone_release text not null,
      recurrence text,
      -- Added and excluded starts of a series, by its zone's clock.
      rdates jsonb not null default '[]',
      exdates jsonb not null default '[]',
      -- From the first start to the last end, somewhat wider for dates; without an upper bound for an endless series.
      extent tstzrange not null,
      status text not null default 'confirmed' check (status in ('confirmed', 'tentative', 'cancelled')),
      visibility text not null default 'default' check (visibility in ('default', 'private')),
      is_free boolean not null default false,
      reminders integer[],
      source text not null default 'manual',
      sequence integer not null default 0,
      -- {name, email}, of an event that somebody else organizes, as its file states.
      organizer jsonb,
      record_type text,
      record_id uuid,
      -- Repeated work makes one event.
      deduplication_key text,
      created_by uuid,
      -- When its times were last set: reminders for earlier moments are not sent.
      timed_at timestamptz not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      foreign key (workspace_id, calendar_id) references calendars on delete cascade,
      foreign key (workspace_id, series_id) references calendar_events on delete cascade,
      check ((start_at is null) = (end_at is null) and (start_date is null) = (end_date is null) and (start_at is null) <> (start_date is null)),
      check (end_at >= start_at and end_date > start_date),
      check ((series_id is null) = (original_start is null and original_date is null)),
      check (series_id is null or recurrence is null),
      -- One exception per occurrence. Exclusion constraints, because a statement that moves a series may exchange the occurrences of two
      -- exceptions: a unique index cannot be checked at the statement's end, and a unique constraint cannot be partial.
      constraint calendar_events_exception
        exclude using btree (workspace_id with =, series_id with =, original_start with =) where (original_start is not null)
        deferrable initially immediate,
      constraint calendar_events_exception_day
        exclude using btree (workspace_id with =, series_id with =, original_date with =) where (original_date is not null)
        deferrable initially immediate
    );
    create index calendar_events_extent on calendar_events using gist (workspace_id, calendar_id, extent);
    create unique index calendar_events_uid on calendar_events (workspace_id, calendar_id, uid) where series_id is null;
    create index calendar_events_record on calendar_events (workspace_id, record_type, record_id) where record_id is not null;
    create unique index calendar_events_deduplication_key on calendar_events (workspace_id, deduplication_key) where deduplication_key is not null;
    -- Events whose times an older release of the time zone data made.
    create index calendar_events_zones on calendar_events (zone_release, (coalesce(upper(extent), 'infinity'::timestamptz)))
      where start_at is not null;

    -- A change of events is a change of their calendars, of both when an event moves to another calendar.
    create function raise_calendar_versions() returns trigger language plpgsql as $$
    begin
      update calendar_states as state set version = version + 1
      from (select distinct workspace_id, calendar_id from changed) as calendar
      where state.workspace_id = calendar.workspace_id and state.calendar_id = calendar.calendar_id;
      return null;
    end $$;
    create trigger calendar_events_added after insert on calendar_events
      referencing new table as changed for each statement execute function raise_calendar_versions();
    create trigger calendar_events_changed after update on calendar_events
      referencing new table as changed for each statement execute function raise_calendar_versions();
    create trigger calendar_events_moved after update on calendar_events
      referencing old table as changed for each statement execute function raise_calendar_versions();
    create trigger calendar_events_gone after delete on calendar_events
      referencing old table as changed for each statement execute function raise_calendar_versions();

    create table calendar_attendees (
      workspace_id uuid not null,
      event_id uuid not null,
      id uuid not null,
      position integer not null,
      user_id uuid,
      email text not null,
      name text not null default '',
      status text not null default 'needs_action' check (status in ('accepted', 'declined', 'tentative', 'needs_action')),
      is_booker boolean not null default false,
      -- False when the day's limit of mails was reached, or the organizer chose to send none.
      is_mailed boolean not null default false,
      token_hash bytea not null,
      token_sealed bytea not null,
      primary key (workspace_id, event_id, id),
      foreign key (workspace_id, event_id) references calendar_events on delete cascade
    );
    create unique index calendar_attendees_email on calendar_attendees (workspace_id, event_id, lower(email));
    create index calendar_attendees_user on calendar_attendees (workspace_id, user_id) where user_id is not null;
    create unique index calendar_attendees_token on calendar_attendees (workspace_id, token_hash);

    create table bookings (
      workspace_id uuid not null,
      event_id uuid not null,
      calendar_id uuid not null,
      attendee_id uuid not null,
      -- The time as it was booked; null once the organizer has moved the event, or it is cancelled.
      slot tstzrange,
      status text not null default 'booked' check (status in ('booked', 'cancelled')),
      name text not null,
      email text not null,
      notes text not null,
      request_key text,
      request_hash bytea,
      created_at timestamptz not null default now(),
      primary key (workspace_id, event_id),
      foreign key (workspace_id, event_id) references calendar_events on delete cascade,
      -- Bookings of a calendar do not overlap.
      constraint bookings_slot exclude using gist (workspace_id with =, calendar_id with =, slot with &&) where (status = 'booked'),
      check (status = 'booked' or slot is null)
    );
    create unique index bookings_request on bookings (workspace_id, calendar_id, request_key) where request_key is not null;

    -- The file of a calendar's feed; 'tag' identifies the state of the calendar that it shows.
    create table calendar_feeds (
      workspace_id uuid not null,
      calendar_id uuid not null,
      tag text not null,
      blob_id uuid not null,
      size_bytes bigint not null,
      primary key (workspace_id, calendar_id),
      foreign key (workspace_id, calendar_id) references calendars on delete cascade
    );
    create trigger calendar_feeds_hold_blob after insert or delete or update of blob_id on calendar_feeds
      for each row execute function hold_blob();

    -- Mails of calendars per day and limited subject: a workspace or an address.
    create table calendar_mail_counts (
      day date not null,
      kind text not null,
      subject text not null,
      mails integer not null,
      primary key (day, kind, subject)
    );
  `)
}
