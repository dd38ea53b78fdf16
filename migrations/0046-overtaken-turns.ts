import type { Knex } from 'knex'

/** Lets a statement fail that finds a run of a flow turned by somebody else. Adds a function, locks nothing. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function refuse_turn() returns boolean language plpgsql as $$
    begin
      raise exception 'the run has been turned by somebody else' using errcode = 'KT001';
    end $$;
  `)
}
