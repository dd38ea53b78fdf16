import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * Finds short texts in names of files and keys of items, and entries by account and by currency, at the cost of what matches. Nobody is
 * locked out while the indexes are built.
 */
export async function up(knex: Knex): Promise<void> {
  // The letters of a text and the pairs of neighbours among them; \x01 stands between two pairs (shared/platform/db/statements/letter-pairs.ts).
  await knex.raw(`
    create or replace function letter_pairs(content text) returns text[] language sql immutable parallel safe
    return string_to_array(content, null) || string_to_array(
      regexp_replace(content, '(..)', e'\\\\1\\x01', 'g') || e'\\x01' || regexp_replace(substr(content, 2), '(..)', e'\\\\1\\x01', 'g'), e'\\x01'
    )
  `)
  const indexes = {
    drive_objects_named_short: `drive_objects using gin (space_id, letter_pairs(lower(split_part(key, '/', -1) collate "pg_c_utf8")))
      with (gin_pending_list_limit = 512) where blob_id is not null`,
    queue_history_short_keys: `queue_history using gin (queue_id, letter_pairs(lower(key collate "pg_c_utf8")))
      with (gin_pending_list_limit = 512) where kind = 'added'`,
    journal_lines_of_account: 'journal_lines (workspace_id, account_id, created_at, entry_id)',
    journal_entries_of_currency: 'journal_entries (workspace_id, currency, created_at, id)',
  }
  for (const [name, definition] of Object.entries(indexes)) {
    // One that was cut off while it was built is left behind and answers nothing.
    await knex.raw(`drop index concurrently if exists ${name}`)
    await knex.raw(`create index concurrently ${name} on ${definition}`)
  }
}
