import type { Knex } from 'knex'

/**
 * Indexes of pairs of fields: whatever is stored of a pair goes with either field. Rewrites `field_uses`, which has some rows for each field
 * that is searched, and `field_indexes` under an exclusive lock. Until it commits, counts of uses, changes of fields and reads of a type's
 * fields wait. The lock on `fields`, which the foreign keys need, comes first, as in the deletion of a field: neither waits for the other
 * in a circle.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    lock table fields in share row exclusive mode;

    -- The use or kind of a pair is '<use or kind>:<id of the leading field>'; the row is the other field's.
    alter table field_uses
      add column lead_field_id uuid generated always as (nullif(split_part(use, ':', 2), '')::uuid) stored,
      add foreign key (workspace_id, lead_field_id) references fields on delete cascade;
    create index field_uses_lead on field_uses (workspace_id, lead_field_id) where lead_field_id is not null;
    alter table field_indexes
      add column lead_field_id uuid generated always as (nullif(split_part(kind, ':', 2), '')::uuid) stored,
      add foreign key (workspace_id, lead_field_id) references fields on delete cascade;
    create index field_indexes_lead on field_indexes (workspace_id, lead_field_id) where lead_field_id is not null;
  `)
}
