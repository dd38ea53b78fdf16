import type { Knex } from 'knex'

/** Gives workspaces a logo: the path of a file of their assets. A nullable column, which takes the table's strongest lock for a moment. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table workspaces add column logo text')
}
