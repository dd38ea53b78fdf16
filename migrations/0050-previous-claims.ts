import type { Knex } from 'knex'

/** Notes in the history of queues whose claim a move or release without its token has ended. Locks queue_history for a moment without rewriting it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table queue_history add column previous_claimer_id uuid, add column previous_claim_until timestamptz')
}
