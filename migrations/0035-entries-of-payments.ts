import type { Knex } from 'knex'

/** Finds the ledger entries that were posted for payments. journal_entries is of the same release, so building this holds nobody up. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index journal_entries_payment on journal_entries (workspace_id, source_id)
      where source_type = 'payment' and source_id is not null;
  `)
}
