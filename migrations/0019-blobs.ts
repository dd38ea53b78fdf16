import type { Knex } from 'knex'

/**
 * Bytes leave the database for the file store; what stays is a row for each blob. Files of jobs that are under way go with their pieces: such
 * an import or export is asked for again. The old tables are dropped, which waits for whoever reads or writes a file just then.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Written before the bytes are, so that no byte lies in the store without a row. What holds a blob is counted by hold_blob below; one that
    -- nothing holds is idle, and swept when it has been for long enough. A doomed one is being deleted and cannot be held any more.
    create table blobs (
      workspace_id uuid not null,
      id uuid not null,
      holders integer not null default 0 check (holders >= 0),
      idle_since timestamptz default clock_timestamp(),
      doomed boolean not null default false,
      primary key (workspace_id, id),
      constraint blobs_idle_without_holders check ((holders = 0) = (idle_since is not null)),
      constraint blobs_doomed_without_holders check (not doomed or holders = 0)
    );
    create index blobs_idle on blobs (idle_since) where idle_since is not null;

    -- The one store of this installation, as it names itself.
    create table blob_store (
      is_only boolean primary key default true check (is_only),
      kind text not null check (kind in ('disk', 's3')),
      id uuid not null
    );

    -- A table whose rows hold a blob has the columns workspace_id and blob_id, and this trigger: after insert or delete or update of blob_id.
    create function hold_blob() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and new.blob_id is not distinct from old.blob_id then
        return null;
      end if;
      if tg_op <> 'INSERT' and old.blob_id is not null then
        update blobs set holders = holders - 1, idle_since = case when holders = 1 then clock_timestamp() end
        where workspace_id = old.workspace_id and id = old.blob_id;
      end if;
      if tg_op <> 'DELETE' and new.blob_id is not null then
        update blobs set holders = holders + 1, idle_since = null
        where workspace_id = new.workspace_id and id = new.blob_id and not doomed;
        if not found then
          raise exception 'blob % is not kept any more', new.blob_id using errcode = 'foreign_key_violation', constraint = 'blob_is_kept';
        end if;
      end if;
      return null;
    end $$;

    drop table job_file_chunks;
    drop table job_files;
    create table job_files (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      content_type text not null,
      name text not null default '',
      headers jsonb not null default '{}',
      size_bytes bigint not null,
      blob_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create index job_files_created on job_files (created_at);
    create trigger job_files_hold_blob after insert or delete or update of blob_id on job_files for each row execute function hold_blob();
  `)
}
