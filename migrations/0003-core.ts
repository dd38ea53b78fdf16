import type { Knex } from 'knex'

/** The core: credentials, members and roles of workspaces, record types with what is kept beside their tables, audit, and notifications. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- People --------------------------------------------------------------------------------------------------------------------------

    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      token_hash bytea not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create unique index sessions_token_hash on sessions (token_hash);
    create index sessions_user on sessions (user_id);
    create trigger sessions_changed after delete on sessions for each row execute function invalidate_cache('user_id');

    create table password_resets (
      token_hash bytea primary key,
      user_id uuid not null references users on delete cascade,
      expires_at timestamptz not null
    );
    create index password_resets_user on password_resets (user_id);

    -- Members and service accounts ----------------------------------------------------------------------------------------------------

    create table members (
      workspace_id uuid not null references workspaces on delete cascade,
      user_id uuid not null references users on delete cascade,
      created_at timestamptz not null default now(),
      primary key (workspace_id, user_id)
    );
    create index members_user on members (user_id);
    create trigger members_changed after insert or update or delete on members for each row execute function invalidate_cache('workspace_id');

    create table invitations (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      email text not null,
      role_ids uuid[] not null,
      invited_by uuid,
      token_hash bytea not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create unique index invitations_token_hash on invitations (token_hash);
    create unique index invitations_email on invitations (workspace_id, lower(email));

    create table service_accounts (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create trigger service_accounts_changed after update or delete on service_accounts
      for each row execute function invalidate_cache('workspace_id');

    create table access_keys (
      workspace_id uuid not null,
      id uuid not null,
      service_account_id uuid not null,
      name text not null,
      -- The start of the secret, for lists.
      prefix text not null,
      secret_hash bytea not null,
      expires_at timestamptz,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      foreign key (workspace_id, service_account_id) references service_accounts on delete cascade
    );
    create unique index access_keys_secret_hash on access_keys (secret_hash);
    create index access_keys_account on access_keys (workspace_id, service_account_id);
    create trigger access_keys_changed after update or delete on access_keys for each row execute function invalidate_cache('workspace_id');

    -- Roles ---------------------------------------------------------------------------------------------------------------------------

    create table roles (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      description text not null default '',
      policy jsonb not null,
      -- The role of visitors without credentials.
      is_anonymous boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create trigger roles_changed after insert or update or delete on roles for each row execute function invalidate_cache('workspace_id');

    -- A principal is a member or a service account; one column names both, so no foreign key can hold it.
    create table role_members (
      workspace_id uuid not null,
      role_id uuid not null,
      principal_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, role_id, principal_id),
      foreign key (workspace_id, role_id) references roles on delete cascade
    );
    create index role_members_principal on role_members (workspace_id, principal_id);
    create trigger role_members_changed after insert or update or delete on role_members
      for each row execute function invalidate_cache('workspace_id');

    -- A principal that leaves a workspace loses its roles there. The argument names the column with the principal.
    create function drop_role_members() returns trigger language plpgsql as $$
    begin
      delete from role_members where workspace_id = old.workspace_id and principal_id = (to_jsonb(old) ->> tg_argv[0])::uuid;
      return null;
    end $$;
    create trigger members_leave_roles after delete on members for each row execute function drop_role_members('user_id');
    create trigger service_accounts_leave_roles after delete on service_accounts for each row execute function drop_role_members('id');

    -- Record types --------------------------------------------------------------------------------------------------------------------

    -- The tables of records are in the schemas of their workspaces (shared/core/types/tables); these rows describe them.
    create table record_types (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      key text not null,
      label text not null,
      icon text not null default '',
      app text not null default '',
      -- JSON as text: the database never looks inside, and jsonb would expand a number such as 1e100000 to its digits.
      ui text not null default '{}',
      description text not null default '',
      system boolean not null default false,
      -- The number of columns that its table has ever had: PostgreSQL counts dropped ones towards its 1,600.
      column_count integer not null default 0,
      -- Grows with every change after which records must be written differently. A column of the type's table is named after it and named by
      -- every write, so a write with outdated metadata fails with "undefined column".
      edition integer not null default 1,
      -- Whether a record was ever long: pages of such a type are measured before they are read.
      long_records boolean not null default false,
      position bigint generated always as identity,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint record_types_key unique (workspace_id, key)
    );
    create trigger record_types_changed after insert or update or delete on record_types
      for each row execute function invalidate_cache('workspace_id');

    -- A deleted record type deletes its listeners (0001-platform.ts).
    alter table event_listeners add constraint event_listeners_type foreign key (workspace_id, record_type)
      references record_types (workspace_id, key) on delete cascade;

    -- The numbers in the names of fields' columns. No name is used twice, also not after a type was deleted and created again: outdated
    -- metadata, or a statement that a connection prepared earlier, fails with "undefined column" and never reads another field's values.
    -- Built-in fields count from 1.
    create sequence column_numbers start 1001;

    create table fields (
      workspace_id uuid not null,
      id uuid not null,
      type_id uuid not null,
      key text not null,
      label text not null,
      type text not null,
      required boolean not null default false,
      is_unique boolean not null default false,
      immutable boolean not null default false,
      autogen text not null default '',
      description text not null default '',
      rules jsonb not null default '{}',
      system boolean not null default false,
      column_name text not null,
      -- Of a computed field: the fields that earlier formulas read whose values a recompute has not replaced yet; null when it has.
      stale_reads text[],
      position bigint generated always as identity,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint fields_key unique (workspace_id, type_id, key),
      foreign key (workspace_id, type_id) references record_types on delete cascade
    );
    create trigger fields_changed after insert or update or delete on fields for each row execute function invalidate_cache('workspace_id');

    -- The key of unique indexes on long text types. Not MD5: two texts with the same MD5 are easily made, and the second could never be stored.
    create function text_digest(value text) returns bytea
      language sql immutable strict parallel safe return sha256(convert_to(value, 'UTF8'));

    -- The next number of an auto-numbered field in a period; the period is empty when its numbers never restart.
    create table field_numbers (
      workspace_id uuid not null,
      field_id uuid not null,
      period text not null,
      next bigint not null,
      primary key (workspace_id, field_id, period),
      foreign key (workspace_id, field_id) references fields on delete cascade
    ) with (fillfactor = 50);

    -- How often a field is searched by (shared/core/types/indexes/README.md).
    create table field_uses (
      workspace_id uuid not null,
      field_id uuid not null,
      use text not null,
      -- As of used_at; it is halved every three days.
      score double precision not null,
      used_at timestamptz not null,
      primary key (workspace_id, field_id, use),
      foreign key (workspace_id, field_id) references fields on delete cascade
    ) with (fillfactor = 50);

    -- The indexes that follow from the uses. A row exists from before the build until after the drop: it shows an unfinished index.
    create table field_indexes (
      workspace_id uuid not null,
      field_id uuid not null,
      kind text not null,
      requested_at timestamptz not null,
      built_at timestamptz,
      failures integer not null default 0,
      failure text,
      retry_at timestamptz,
      -- Of a trigram index: the trigrams that many values contain, and those of fewer values that are not rare either, at the time of the
      -- sample. They are part of the type's cached metadata.
      sampled_at timestamptz,
      common_trigrams text[] not null default '{}',
      frequent_trigrams text[] not null default '{}',
      primary key (workspace_id, field_id, kind),
      foreign key (workspace_id, field_id) references fields on delete cascade
    );
    create trigger field_indexes_changed after update on field_indexes for each row
      when (old.common_trigrams <> new.common_trigrams or old.frequent_trigrams <> new.frequent_trigrams)
      execute function invalidate_cache('workspace_id');
    create trigger field_indexes_deleted after delete on field_indexes for each row
      when (old.common_trigrams <> '{}') execute function invalidate_cache('workspace_id');

    -- Menu groups of the workspace's interface.
    create table modules (
      workspace_id uuid not null references workspaces on delete cascade,
      slug text not null,
      name text not null,
      glyph text not null default '',
      category text not null default '',
      position double precision not null default 0,
      primary key (workspace_id, slug)
    );

    -- Records -------------------------------------------------------------------------------------------------------------------------

    -- The number of records of a type: the sum of its shares. Each connection counts in its own share, so two creates seldom wait for one row.
    create table record_counts (
      workspace_id uuid not null,
      type_id uuid not null,
      share smallint not null,
      records bigint not null,
      primary key (workspace_id, type_id, share),
      constraint record_counts_type foreign key (workspace_id, type_id) references record_types on delete cascade
    ) with (fillfactor = 50);

    -- Append-only. It outlives what it describes, so nothing references it.
    create table audit_entries (
      workspace_id uuid not null,
      id uuid not null default uuidv7(),
      actor_id uuid,
      actor_type text not null check (actor_type in ('user', 'service', 'system')),
      action text not null,
      object_type text not null,
      record_id uuid not null,
      before jsonb,
      after jsonb,
      -- Characters of before and after as they were written: the size of a page is known without reading them.
      text_length integer not null default 0,
      request_id text not null,
      -- The time of the id, so that the order of ids is the order of creation.
      created_at timestamptz not null generated always as (uuid_extract_timestamp(id)) virtual,
      primary key (workspace_id, id)
    );
    create index audit_entries_record on audit_entries (workspace_id, record_id, id desc);
    create index audit_entries_type on audit_entries (workspace_id, object_type, id desc);
    create index audit_entries_actor on audit_entries (workspace_id, actor_id, id desc);
    create trigger audit_entries_stay before update or delete or truncate on audit_entries
      for each statement execute function refuse_change();

    -- Notifications -------------------------------------------------------------------------------------------------------------------

    create table notification_rules (
      workspace_id uuid not null,
      id uuid not null,
      name text not null,
      object_type text not null,
      event text not null check (event in ('created', 'updated', 'deleted')),
      title text not null,
      audience text not null default 'all_members' check (audience = 'all_members'),
      enabled boolean not null default true,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint notification_rules_type foreign key (workspace_id, object_type) references record_types (workspace_id, key) on delete cascade
    );
    create index notification_rules_type on notification_rules (workspace_id, object_type);
    create trigger notification_rules_changed after insert or update or delete on notification_rules
      for each row execute function invalidate_cache('workspace_id');

    -- The id of the notification that an event makes for a rule and a member: the time of the event's id, a UUID of version 7, and 60 bits of
    -- a digest. Repeated work makes the same id, so the primary key of the inbox prevents duplicates, and the order is that of the events.
    create function notification_id(entry uuid, rule uuid, member uuid) returns uuid
    language sql immutable strict parallel safe
    return (left(entry::text, 18) || '-8' || substr(md5(entry::text || rule::text || member::text), 1, 15))::uuid;

    -- The inboxes of members.
    create table notifications (
      workspace_id uuid not null,
      user_id uuid not null,
      id uuid not null,
      -- A notification of a feature: each key exists at most once in an inbox.
      key text,
      title text not null,
      -- The record that it is about; null when it is about none.
      object_type text,
      record_id uuid,
      event text not null,
      created_at timestamptz not null generated always as (uuid_extract_timestamp(id)) virtual,
      read_at timestamptz,
      primary key (workspace_id, user_id, id)
    );
    create unique index notifications_key on notifications (workspace_id, user_id, key) where key is not null;
    create index notifications_unread on notifications (workspace_id, user_id, id desc) where read_at is null;

    -- A removed member's inbox is deleted. It is deleted again when the member returns, because a worker may have written meanwhile.
    create function clear_notifications() returns trigger language plpgsql as $$
    declare
      member members := case when tg_op = 'DELETE' then old else new end;
    begin
      delete from notifications where workspace_id = member.workspace_id and user_id = member.user_id;
      return null;
    end $$;
    create trigger members_clear_notifications after insert or delete on members for each row execute function clear_notifications();
  `)
}
