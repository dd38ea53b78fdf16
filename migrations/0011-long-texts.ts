import type { Knex } from 'knex'

/**
 * Long texts are told apart by SHA-256, and how long records and audit entries are is known without reading them. The unique indexes of long
 * texts are made anew, each under the lock of its table; the columns have a constant default.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether a record of the type was ever long, so that pages of them are measured before they are read. What is there already may be.
    alter table record_types add column long_records boolean not null default true;
    alter table record_types alter column long_records set default false;

    -- Characters of before and after as they were written: what reading them would take, known without reading them.
    alter table audit_entries add column text_length integer not null default 0;

    -- Holds long values of unique fields apart. Not by MD5: two texts with one MD5 are easily made, and the second could never be stored.
    create function text_digest(value text) returns bytea
      language sql immutable strict parallel safe return sha256(convert_to(value, 'UTF8'));

    do $$
    declare
      held record;
    begin
      for held in
        select 'ws_' || replace(field.workspace_id::text, '-', '') as space, type.key as table_name,
          'unique_' || replace(field.id::text, '-', '') as index_name, field.column_name
        from fields as field join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
        where field.is_unique and field.type in ('text', 'url', 'file')
      loop
        execute format('drop index %I.%I', held.space, held.index_name);
        execute format('create unique index %I on %I.%I (text_digest(%I)) where %I <> %L',
          held.index_name, held.space, held.table_name, held.column_name, held.column_name, '');
      end loop;
    end $$;
  `)
}
