import type { Knex } from 'knex'

/** What the values of indexed fields have in common. Columns with a constant default on a table of few rows. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- Of a trigram index: the trigrams that many values of its field have, and those of fewer that are not rare either, as they were at that
    -- time. A record type's picture has them.
    alter table field_indexes add column sampled_at timestamptz,
      add column common_trigrams text[] not null default '{}', add column frequent_trigrams text[] not null default '{}';
    create trigger field_indexes_changed after update on field_indexes for each row
      when (old.common_trigrams <> new.common_trigrams or old.frequent_trigrams <> new.frequent_trigrams) execute function note_change('workspace_id');
    create trigger field_indexes_deleted after delete on field_indexes for each row
      when (old.common_trigrams <> '{}') execute function note_change('workspace_id');
  `)
}
