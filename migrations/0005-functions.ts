import type { Knex } from 'knex'

/** Functions: their present definition, all versions, runs, and secrets. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table functions (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      description text not null default '',
      source text not null,
      timeout_ms integer not null check (timeout_ms between 100 and 30000),
      enabled boolean not null default true,
      http_enabled boolean not null default false,
      -- Who last changed the source: a run for another caller has only the rights that both have.
      author_id uuid not null,
      version integer not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create trigger functions_cap after insert on functions for each row execute function limit_rows('500', 'true');
    create trigger functions_changed after insert or update or delete on functions
      for each row execute function invalidate_cache('workspace_id');

    -- Every source that a function has had, the present one included.
    create table function_versions (
      workspace_id uuid not null,
      function_id uuid not null,
      version integer not null,
      source text not null,
      author_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, function_id, version),
      foreign key (workspace_id, function_id) references functions on delete cascade
    );

    -- Runs outlive their function: deleting a function must not wait for the deletion of a million rows. A maintenance task deletes old ones.
    create table function_runs (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      function_id uuid not null,
      version integer not null,
      parent_id uuid,
      actor_id uuid,
      actor_type text not null,
      request_id text not null,
      ending text not null check (ending in ('returned', 'threw', 'timed_out', 'out_of_memory', 'interrupted')),
      error text,
      logs json not null,
      steps json not null,
      result_bytes integer not null,
      duration_ms integer not null,
      finished_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create index function_runs_function on function_runs (workspace_id, function_id, id desc);
    create index function_runs_finished on function_runs (finished_at);

    -- Values are encrypted: the database alone cannot read them.
    create table function_secrets (
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      value bytea not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, name)
    );
  `)
}
