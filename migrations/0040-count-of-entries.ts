import type { Knex } from 'knex'

/**
 * The entries of some days are counted by their index alone, whatever the currency: the overview took most of its time for that. It locks
 * journal_entries against postings while the index is built; the table is of the same release.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index journal_entries_date;
    create index journal_entries_date on journal_entries (workspace_id, date, created_at, id) include (currency);
  `)
}
