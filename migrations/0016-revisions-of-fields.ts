import type { Knex } from 'knex'

/**
 * Revisions of fields, kept with the values that were written: which field a stored value belongs to. Locks `fields`, `audit_entries` and
 * `flow_steps` exclusively for a moment; no table is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- Numbers of one sequence, taken with the type locked: of two changes of a type, the later one has the higher number. Fields from before
    -- this migration have 0.
    create sequence field_revisions;
    alter table fields add column revision bigint not null default 0;
    alter table fields alter column revision set default nextval('field_revisions');

    -- The highest revision among the type's fields as the writer of the values knew them; null for what earlier releases wrote.
    alter table audit_entries add column type_revision bigint;
    alter table flow_steps add column type_revision bigint;
  `)
}
