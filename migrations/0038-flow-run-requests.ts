import type { Knex } from 'knex'

/** Keeps with a run the request that set it off, so that a trace finds it. A column without a default: the table's lock is held for a moment. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    alter table flow_runs add column request_id text;
  `)
}
