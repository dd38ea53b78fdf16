import type { Knex } from 'knex'

export const config: Knex.MigratorConfig & { transaction: boolean } = { transaction: false }

/**
 * Backups: the size and digest of each blob, filled in where a file's row has them, and whether the database is a restored copy. The columns
 * and the constraint take an exclusive lock of an instant; the update locks only the rows of blobs. It can be repeated.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';

    -- Both are null while the bytes are written, and of blobs of earlier releases until the first backup of files.
    alter table blobs add column if not exists size_bytes bigint, add column if not exists sha256 text;
    alter table blobs drop constraint if exists blobs_measured;
    alter table blobs add constraint blobs_measured check (num_nulls(size_bytes, sha256) <> 1) not valid;

    -- One row once the database has been restored from a backup. Nothing leaves the installation while live_at is null.
    create table if not exists restored_copy (
      is_only boolean primary key default true check (is_only),
      -- Of the copy that was marked; a copy made from it has another identity.
      identity text not null,
      restored_at timestamptz not null default now(),
      live_at timestamptz
    );
    commit;
  `)
  await knex.raw(`
    update blobs as blob set size_bytes = known.size_bytes, sha256 = known.sha256
    from (
      select workspace_id, blob_id, size_bytes, sha256 from drive_objects where sha256 <> ''
      union select workspace_id, blob_id, size_bytes, sha256 from site_content where blob_id is not null
    ) as known
    where known.workspace_id = blob.workspace_id and known.blob_id = blob.id and blob.sha256 is null
  `)
  await knex.raw('alter table blobs validate constraint blobs_measured')
}
