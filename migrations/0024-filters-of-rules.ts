import type { Knex } from 'knex'

/**
 * Filters of notification rules: which changes fire a rule; null for every change. Locks `notification_rules` exclusively for a moment; the
 * table is not rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table notification_rules add column filter json;
  `)
}
