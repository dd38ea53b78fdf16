import type { Knex } from 'knex'

/** Websites with their documents and files. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table sites (
      workspace_id uuid not null references workspaces (id) on delete cascade,
      id uuid not null,
      key text not null,
      name text not null,
      published boolean not null,
      -- The row that holds the assets of all websites: created with the first of them, and no website to callers.
      is_shared boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, id),
      constraint sites_key unique (workspace_id, key),
      constraint sites_assets check (is_shared = (key = 'assets') and (published or not is_shared))
    );
    create trigger sites_cap after insert on sites for each row when (not new.is_shared) execute function limit_rows('100', 'not is_shared');

    create table site_content (
      workspace_id uuid not null,
      site_id uuid not null,
      -- Compared by its bytes.
      path text collate "C" not null,
      -- Changes with every write.
      version uuid not null,
      published boolean not null,
      -- Of a document.
      title text,
      body text,
      fields json,
      -- Of a file, which is always published.
      blob_id uuid,
      size_bytes bigint,
      content_type text,
      sha256 text,
      updated_at timestamptz not null,
      primary key (workspace_id, site_id, path),
      constraint site_content_site foreign key (workspace_id, site_id) references sites (workspace_id, id) on delete cascade,
      constraint site_content_kind check (
        num_nulls(title, body, fields) = 0 and num_nonnulls(blob_id, size_bytes, content_type, sha256) = 0
        or num_nonnulls(title, body, fields) = 0 and num_nulls(blob_id, size_bytes, content_type, sha256) = 0 and published
      )
    );
    create trigger site_content_hold_blob after insert or delete or update of blob_id on site_content
      for each row execute function hold_blob();
  `)
}
