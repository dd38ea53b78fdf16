import type { Knex } from 'knex'

/**
 * Notes of each run of a flow whether it reaches what is personal of its editor, and who may see what set it off. Open runs of before reach
 * nothing personal. Locks flow_runs for a moment without rewriting it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table flow_runs add column is_personal boolean not null default false, add column guard json')
}
