import type { Knex } from 'knex'

/** Holds items of one key apart in every inbox. Made beside what goes on: no lock that anyone waits for. */
export const config = { transaction: false }

export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'create unique index concurrently if not exists notifications_key on notifications (workspace_id, user_id, key) where key is not null',
  )
}
