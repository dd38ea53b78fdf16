import type { Knex } from 'knex'

/**
 * The platform: extensions, the functions that tables of every floor use, the roots `users` and `workspaces`, and the tables of the
 * platform's folders except jobs.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Trigram indexes (values of fields, keys of queue items, file names), equality in GIN indexes, and in exclusion constraints.
    create extension if not exists pg_trgm;
    create extension if not exists btree_gin;
    create extension if not exists btree_gist;

    -- Cache ---------------------------------------------------------------------------------------------------------------------------

    -- One row per change of a cached table. Processes read the rows that they have not seen and drop what they cached of these scopes.
    create table cache_invalidations (
      id bigint generated always as identity primary key,
      -- Ids are not in the order of commits, so readers compare transaction ids with their snapshot.
      written_in xid8 not null default pg_current_xact_id(),
      -- The id of a workspace or of a person.
      scope text not null,
      created_at timestamptz not null default now()
    );
    create index cache_invalidations_written_in on cache_invalidations (written_in);

    -- For triggers of tables whose rows are cached. Its argument names the column with the scope.
    create function invalidate_cache() returns trigger language plpgsql as $$
    declare
      scope text;
    begin
      scope := case when tg_op = 'DELETE' then to_jsonb(old) ->> tg_argv[0] else to_jsonb(new) ->> tg_argv[0] end;
      insert into cache_invalidations (scope) values (scope);
      return null;
    end $$;

    -- Functions for tables of every floor ---------------------------------------------------------------------------------------------

    -- For triggers of append-only tables.
    create function refuse_change() returns trigger language plpgsql as $$
    begin
      raise exception '% only grows', tg_table_name;
    end $$;

    -- For triggers that limit the rows of a workspace. Arguments: the limit, and a condition on the rows that count. The lock per workspace
    -- and table is taken before counting, so concurrent inserts cannot exceed the limit together.
    create function limit_rows() returns trigger language plpgsql as $$
    declare
      most bigint := tg_argv[0];
      present bigint;
    begin
      perform pg_advisory_xact_lock(hashtextextended(tg_name || new.workspace_id::text, 0));
      execute format('select count(*) from (select from %I where workspace_id = $1 and %s limit $2 + 1) as present', tg_table_name, tg_argv[1])
        into present using new.workspace_id, most;
      if present > most then
        raise exception 'a workspace has at most % rows of %', most, tg_table_name using errcode = 'check_violation', constraint = tg_name;
      end if;
      return null;
    end
    $$;

    -- The characters of a text and its pairs of adjacent ones, which \\x01 separates meanwhile. A GIN index of them finds a text that has no
    -- trigram, such as one of two letters (shared/platform/db/statements/letter-pairs.ts).
    create function letter_pairs(content text) returns text[] language sql immutable parallel safe
    return string_to_array(content, null) || string_to_array(
      regexp_replace(content, '(..)', e'\\\\1\\x01', 'g') || e'\\x01' || regexp_replace(substr(content, 2), '(..)', e'\\\\1\\x01', 'g'), e'\\x01'
    );

    -- The roots -----------------------------------------------------------------------------------------------------------------------

    create table users (
      id uuid primary key,
      email text not null,
      name text not null,
      password_hash text not null,
      created_at timestamptz not null default now()
    );
    create unique index users_email on users (lower(email));
    create trigger users_changed after update or delete on users for each row execute function invalidate_cache('id');

    -- The tenants. The platform knows a workspace as an id and a status; the other columns are those of the core and of features.
    create table workspaces (
      id uuid primary key,
      name text not null,
      status text not null default 'provisioning' check (status in ('provisioning', 'active', 'suspended')),
      plan text not null check (plan in ('free', 'paid')),
      owner_id uuid not null references users,
      timezone text not null default 'UTC',
      default_currency text not null default 'USD',
      multi_currency boolean not null default false,
      -- Nothing can be posted on this day or before it.
      books_closed_through date,
      -- Which apps are on.
      apps jsonb not null default '{"functions": true, "payments": true, "queues": true, "calendar": true, "accounting": true}',
      -- The version of the built-in record types that it has; a worker brings newer ones.
      builtin_version integer not null default 1,
      -- The look of its pages: a colour, and the path of a file of its website assets.
      color text constraint workspace_color check (color ~ '^#[0-9a-fA-F]{6}$'),
      logo text,
      created_at timestamptz not null default now()
    );
    create index workspaces_owner on workspaces (owner_id);
    create index workspaces_builtin_version on workspaces (builtin_version, id);
    create trigger workspaces_changed after update or delete on workspaces for each row execute function invalidate_cache('id');

    -- Limits and repeated requests ----------------------------------------------------------------------------------------------------

    -- Counters of rate limits in fixed windows, shared by all API processes. Unlogged: a crash loses a minute of counts, and no counter costs
    -- write-ahead log.
    create unlogged table rate_limits (
      key text primary key,
      points integer not null default 0,
      -- The end of the window, in milliseconds since 1970.
      expire bigint
    );
    create index rate_limits_expire on rate_limits (expire);

    -- Stored answers of requests with an Idempotency-Key, kept 24 hours.
    create table idempotency_records (
      principal_id uuid not null,
      path text not null,
      key text not null,
      body_hash bytea not null,
      -- The answer, encrypted because it may contain a key that is shown once; or the operation whose result is the answer. Both are null
      -- only inside the transaction that does the work.
      answer bytea,
      operation_id uuid,
      created_at timestamptz not null default now(),
      primary key (principal_id, path, key)
    );
    create index idempotency_records_created on idempotency_records (created_at);

    -- Blobs ---------------------------------------------------------------------------------------------------------------------------

    -- One row per blob in the byte store, written before the bytes, so that no byte is stored without a row. Triggers count the rows that
    -- name a blob in 'holders'. A blob without holders is idle and deleted after a time; a doomed one is being deleted and takes no holder.
    create table blobs (
      workspace_id uuid not null,
      id uuid not null,
      holders integer not null default 0 check (holders >= 0),
      idle_since timestamptz default clock_timestamp(),
      doomed boolean not null default false,
      primary key (workspace_id, id),
      constraint blobs_idle_without_holders check ((holders = 0) = (idle_since is not null)),
      constraint blobs_doomed_without_holders check (not doomed or holders = 0)
    );
    create index blobs_idle on blobs (idle_since) where idle_since is not null;

    -- For tables with the columns workspace_id and blob_id: a trigger "after insert or delete or update of blob_id".
    create function hold_blob() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and new.blob_id is not distinct from old.blob_id then
        return null;
      end if;
      if tg_op <> 'INSERT' and old.blob_id is not null then
        update blobs set holders = holders - 1, idle_since = case when holders = 1 then clock_timestamp() end
        where workspace_id = old.workspace_id and id = old.blob_id;
      end if;
      if tg_op <> 'DELETE' and new.blob_id is not null then
        update blobs set holders = holders + 1, idle_since = null
        where workspace_id = new.workspace_id and id = new.blob_id and not doomed;
        if not found then
          raise exception 'blob % is not kept any more', new.blob_id using errcode = 'foreign_key_violation', constraint = 'blob_is_kept';
        end if;
      end if;
      return null;
    end $$;

    -- The identity of the installation's byte store, so that a process does not start on another one.
    create table blob_store (
      is_only boolean primary key default true check (is_only),
      kind text not null check (kind in ('disk', 's3')),
      id uuid not null
    );

    -- Due tasks -----------------------------------------------------------------------------------------------------------------------

    -- One row per subject and kind; it is deleted when its job is enqueued. Tasks of the platform have no workspace.
    create table due_work (
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      subject text not null,
      -- The id of the job that it becomes.
      id uuid not null default uuidv7(),
      at timestamptz not null,
      -- It fell due while the workspace was suspended or the app of its kind was off, and waits.
      held boolean not null default false,
      constraint due_work_key unique nulls not distinct (workspace_id, kind, subject)
    );
    create index due_work_at on due_work (at, id) where not held;
    create index due_work_held on due_work (workspace_id) where held;

    -- A changed status or app may let held tasks run; the scheduler decides.
    create function release_due_work() returns trigger language plpgsql as $$
    begin
      update due_work set held = false where workspace_id = new.id and held;
      return null;
    end $$;
    create trigger workspaces_release_due_work after update on workspaces
      for each row when (old.status is distinct from new.status or old.apps is distinct from new.apps) execute function release_due_work();

    -- Events --------------------------------------------------------------------------------------------------------------------------

    -- Who receives which events. It is written in the transaction that saves the listener; a change of a record reads nothing else.
    create table event_listeners (
      workspace_id uuid not null,
      source text not null default 'records',
      -- The topic: the key of a record type, or what another source calls its topics.
      object_type text not null,
      -- For the foreign key event_listeners_type (0003-core.ts): only a deleted record type deletes its listeners.
      record_type text generated always as (case when source = 'records' then object_type end) stored,
      event text not null,
      subscriber text not null,
      listener_id uuid not null,
      -- Whether it asks for the subject as the event left it.
      snapshot boolean not null default false,
      primary key (workspace_id, source, object_type, event, subscriber, listener_id),
      constraint event_listeners_event check (source <> 'records' or event in ('created', 'updated', 'deleted'))
    );
    create index event_listeners_listener on event_listeners (workspace_id, subscriber, listener_id);
    create trigger event_listeners_changed after insert or update or delete on event_listeners
      for each row execute function invalidate_cache('workspace_id');

    -- Events on their way to their listeners. The statement of a change writes this row, so it is slim: a job of pg-boss has eleven indexes
    -- and two foreign keys, and made such a change cost the database twice as much.
    create table event_outbox (
      workspace_id uuid not null,
      id uuid default uuidv7(),
      source text not null default 'records',
      object_type text not null,
      event text not null,
      -- The ids of the events (of records: audit entries) and, in the same order, of their subjects, with a snapshot each where a listener
      -- asked for it.
      entry_ids uuid[] not null,
      subject_ids uuid[] not null default '{}',
      snapshots jsonb,
      -- The ids of the listeners by subscriber, at the time of the change.
      listeners jsonb not null,
      cause jsonb not null,
      primary key (workspace_id, id)
    );

    -- Up to at_most workspaces with waiting events, after a given one: one step of the index per workspace, however many events wait. The
    -- settings have the reason of those of admit_jobs (0002-platform-jobs.ts): beside 100,000 events each call sorted all of them, 360 ms.
    create function list_dispatch_workspaces(after uuid, at_most integer) returns setof uuid
    language sql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      with recursive listed as (
        (select workspace_id, 1 as place from event_outbox where workspace_id > after order by workspace_id limit 1)
        union all
        select next.workspace_id, listed.place + 1
        from listed
        cross join lateral (
          select workspace_id from event_outbox where workspace_id > listed.workspace_id order by workspace_id limit 1
        ) as next
        where listed.place < at_most
      )
      select workspace_id from listed
    $$;

    -- Takes the oldest events of some workspaces, at most of_each of each, except events that another transaction has locked and those with
    -- a subscriber that is not known.
    create function take_dispatches(known text[], workspaces uuid[], of_each integer) returns setof event_outbox
    language sql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
      delete from event_outbox
      where ctid = any(array(
        select waiting.ctid
        from unnest(workspaces) as listed (workspace_id)
        cross join lateral (
          select event_outbox.ctid from event_outbox
          where event_outbox.workspace_id = listed.workspace_id
            and not exists (select from jsonb_object_keys(listeners) as subscriber where subscriber <> all(known))
          order by id limit of_each
          for update skip locked
        ) as waiting
      ))
      returning event_outbox.*
    $$;

    -- Mail ----------------------------------------------------------------------------------------------------------------------------

    -- Outgoing mail, written in the transaction of its cause and sent by a worker: mail of the platform, and messages of workspaces.
    create table outbox_mails (
      id uuid primary key,
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      -- Of a message: the connection that sends it, its template, and the record that it is about.
      connection_id uuid,
      template_id uuid,
      record_type text,
      record_id uuid,
      -- Repeated work with the same key sends one message.
      deduplication_key text,
      recipient text not null,
      -- The spellings of the recipient that the do-not-contact list may contain; null for mail that ignores the list.
      contact_keys text[],
      subject text not null,
      body_text text not null,
      body_html text,
      headers jsonb not null default '{}',
      calendar jsonb,
      status text not null default 'queued'
        check (status in ('queued', 'sending', 'sent', 'uncertain', 'failed', 'bounced', 'skipped')),
      attempts integer not null default 0,
      -- The server got it twice without an answer to the first time: there is no third time.
      second_try boolean not null default false,
      last_error text,
      -- Texts of old messages are deleted.
      is_erased boolean not null default false,
      created_at timestamptz not null default now(),
      sent_at timestamptz
    );
    create index outbox_mails_created on outbox_mails (created_at);
    create index outbox_mails_workspace on outbox_mails (workspace_id, created_at);
    create index outbox_mails_recipient on outbox_mails (lower(recipient), created_at);
    create unique index outbox_mails_deduplication_key on outbox_mails (workspace_id, deduplication_key) where deduplication_key is not null;
    create index outbox_mails_messages on outbox_mails (workspace_id, id) where kind = 'message';
    create index outbox_mails_records on outbox_mails (workspace_id, record_id, id) where record_id is not null;
    create index outbox_mails_texts on outbox_mails (created_at) where kind = 'message' and not is_erased;
  `)
}
