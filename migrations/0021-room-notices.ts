import type { Knex } from 'knex'

/**
 * Lets items of inboxes come from rooms too, about a record or about none, and each at most once by a key; and notes which built-in types a
 * workspace has. Takes notifications and workspaces for itself for a moment: the columns are nullable or have a constant default.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table notifications
      alter column object_type drop not null,
      alter column record_id drop not null,
      add column key text;
    -- Workspaces that are there already have what the first declaration holds.
    alter table workspaces add column builtin_version integer not null default 1;
    create index workspaces_builtin_version on workspaces (builtin_version, id);
  `)
}
