import type { Knex } from 'knex'

export const config = { transaction: false }

/** Text in the keys of a queue's items is found by an index: of the entries that made them, since those are never written again. Nobody is locked out. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create extension if not exists btree_gin')
  await knex.raw('drop index concurrently if exists queue_history_keys')
  await knex.raw(`
    create index concurrently queue_history_keys on queue_history using gin (queue_id, lower(key collate "pg_c_utf8") gin_trgm_ops)
      with (gin_pending_list_limit = 512) where kind = 'added'
  `)
}
