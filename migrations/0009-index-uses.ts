import type { Knex } from 'knex'

/** How often fields are searched by, and the indexes that follow from it. New tables only: takes no lock that anyone waits for. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table field_uses (
      workspace_id uuid not null,
      field_id uuid not null,
      use text not null,
      -- How often, where what is days old counts for less, as it stood at the last use.
      score double precision not null,
      used_at timestamptz not null,
      primary key (workspace_id, field_id, use),
      foreign key (workspace_id, field_id) references fields on delete cascade
    ) with (fillfactor = 50);

    -- A row is there before its index, and goes after it: an index that nobody finished is known by it.
    create table field_indexes (
      workspace_id uuid not null,
      field_id uuid not null,
      kind text not null,
      asked_at timestamptz not null,
      built_at timestamptz,
      failures integer not null default 0,
      failure text,
      retry_at timestamptz,
      primary key (workspace_id, field_id, kind),
      foreign key (workspace_id, field_id) references fields on delete cascade
    );
  `)
}
