import type { Knex } from 'knex'

/** Record types, fields, menu groups and what is kept of records beside their own tables. New tables only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table record_types (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      key text not null,
      label text not null,
      icon text not null default '',
      app text not null default '',
      -- JSON as text: nothing in the database looks inside, and as jsonb a number such as 1e100000 would unfold to its digits.
      ui text not null default '{}',
      description text not null default '',
      system boolean not null default false,
      -- The columns that the type's table has ever had: PostgreSQL counts dropped ones towards its 1,600.
      column_count integer not null default 0,
      -- Grows with every change after which records are to be written otherwise than before; a column of the type's table is named by it,
      -- and every write names that column, so one from an out-of-date picture meets "undefined column".
      edition integer not null default 1,
      position bigint generated always as identity,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint record_types_key unique (workspace_id, key)
    );

    -- The number that a field's column carries. No name of a column is ever used twice, also not after a type was deleted and made again:
    -- an out-of-date picture of a type, or a statement that a connection prepared before, meets "undefined column" and not another
    -- field's values. Built-in fields count from 1.
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
      position bigint generated always as identity,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint fields_key unique (workspace_id, type_id, key),
      foreign key (workspace_id, type_id) references record_types on delete cascade
    );

    create table modules (
      workspace_id uuid not null references workspaces on delete cascade,
      slug text not null,
      name text not null,
      glyph text not null default '',
      category text not null default '',
      position double precision not null default 0,
      primary key (workspace_id, slug)
    );

    -- How many records a type holds, in shares by connection so that two creations seldom wait for one row; the count is their sum.
    create table record_counts (
      workspace_id uuid not null,
      type_id uuid not null,
      share smallint not null,
      records bigint not null,
      primary key (workspace_id, type_id, share),
      constraint record_counts_type foreign key (workspace_id, type_id) references record_types on delete cascade
    ) with (fillfactor = 50);

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
      request_id text not null,
      -- The id's own time, so that the order of ids is the order of creation.
      created_at timestamptz not null generated always as (uuid_extract_timestamp(id)) virtual,
      primary key (workspace_id, id)
    );
    create index audit_entries_record on audit_entries (workspace_id, record_id, id desc);

    create trigger record_types_changed after insert or update or delete on record_types for each row execute function note_change('workspace_id');
    create trigger fields_changed after insert or update or delete on fields for each row execute function note_change('workspace_id');
  `)
}
