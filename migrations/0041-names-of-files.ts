import type { Knex } from 'knex'

/** A search goes by the names of files, wherever in a space they lie. The index is built beside its table's work. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('create extension if not exists btree_gin')
  await knex.raw(`
    create index concurrently if not exists drive_objects_named on drive_objects
      using gin (space_id, (lower(split_part(key, '/', -1) collate "pg_c_utf8")) gin_trgm_ops)
      with (gin_pending_list_limit = 512)
      where blob_id is not null
  `)
}

export const config = { transaction: false }
