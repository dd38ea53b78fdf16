import type { Knex } from 'knex'

/** A transaction for each table: there are more of them than one has locks for. */
export const config = { transaction: false }

/**
 * Has the tables of records vacuumed sooner, as new ones are (shared/core/types/tables/table-names.ts). Everybody may read and write meanwhile; where an index
 * is being made on a table, it asks again until that is done. None of its commits waits for the disk, since the one that notes it as done does.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$
    declare
      held record;
      is_done boolean;
    begin
      for held in
        select nspname as space, relname as table_name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where nspname ~ '^ws_[0-9a-f]{32}$' and relkind = 'r'
      loop
        loop
          begin
            perform set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '500ms', true);
            execute format(
              'alter table if exists %I.%I set (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02,
                 autovacuum_vacuum_insert_threshold = 1000, autovacuum_vacuum_insert_scale_factor = 0.02)',
              held.space, held.table_name
            );
            is_done := true;
          exception when lock_not_available then
            is_done := false;
          end;
          -- Who makes an index waits for every transaction that was there before, so this one must not last.
          commit;
          exit when is_done;
        end loop;
      end loop;
    end $$;
  `)
}
