import type { Knex } from 'knex'

/** The numbers that auto-numbered fields have issued. A new table only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The next number of a field in a period; the period is empty when its numbers never restart.
    create table field_numbers (
      workspace_id uuid not null,
      field_id uuid not null,
      period text not null,
      next bigint not null,
      primary key (workspace_id, field_id, period),
      foreign key (workspace_id, field_id) references fields on delete cascade
    ) with (fillfactor = 50);
  `)
}
