import type { Knex } from 'knex'

/** The colour of a workspace's pages. Takes `access exclusive` on workspaces for a moment. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table workspaces add column color text
      constraint workspace_color check (color ~ '^#[0-9a-fA-F]{6}$')
  `)
}
