import type { Knex } from 'knex'

/**
 * Work that falls due at a time. A new table; the trigger on workspaces takes their table for itself for an instant.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row for each thing that falls due; it goes when its job is filed. Of the platform's own work the workspace is null.
    create table due_work (
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      subject text not null,
      -- The id of the job that it becomes.
      id uuid not null default uuidv7(),
      at timestamptz not null,
      -- Set while the workspace is suspended, or an app that the kind belongs to is off: it fell due and waits.
      held boolean not null default false,
      constraint due_work_key unique nulls not distinct (workspace_id, kind, subject)
    );
    create index due_work_at on due_work (at, id) where not held;
    create index due_work_held on due_work (workspace_id) where held;

    -- What waited for a workspace is looked at again when the workspace has changed.
    create function release_due_work() returns trigger language plpgsql as $$
    begin
      update due_work set held = false where workspace_id = new.id and held;
      return null;
    end $$;
    create trigger workspaces_release_due_work after update on workspaces
      for each row when (old.status is distinct from new.status or old.apps is distinct from new.apps) execute function release_due_work();
  `)
}
