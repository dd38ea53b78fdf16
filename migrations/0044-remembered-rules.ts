import type { Knex } from 'knex'

/** Lets workers remember the titles of notification rules. The trigger takes their table for itself for a moment. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    create trigger notification_rules_changed after insert or update or delete on notification_rules
      for each row execute function note_change('workspace_id');
  `)
}
