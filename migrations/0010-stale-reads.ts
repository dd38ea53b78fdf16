import type { Knex } from 'knex'

/** Computed fields know of what their records may still hold values. A new column without a default: the lock is held for a moment. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What the formulas read that made the values which a recompute has not replaced yet; null once it has.
    alter table fields add column stale_reads text[];
  `)
}
