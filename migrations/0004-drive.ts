import type { Knex } from 'knex'

/** Drive: spaces, the objects in them, their totals, shares, and the bytes that count towards a plan. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table drive_spaces (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      key text collate "C" not null,
      name text not null,
      type text not null check (type in ('user', 'org', 'custom')),
      -- Of a personal space: its owner, whether it is the one that every member has, and since when its owner is no member any more.
      owner_id uuid references users on delete cascade,
      is_main boolean not null default false,
      left_at timestamptz,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      constraint drive_spaces_key unique (workspace_id, key),
      check ((type = 'user') = (owner_id is not null)),
      check (left_at is null or type = 'user'),
      check (type <> 'org' or key = 'org')
    );
    create index drive_spaces_owner on drive_spaces (workspace_id, owner_id) where owner_id is not null;
    create index drive_spaces_left on drive_spaces (left_at) where left_at is not null;

    -- An empty folder is a row whose key ends with a slash; it has no blob and does not count as a file. Keys compare by their bytes. The
    -- foreign key does not cascade: only an empty space can be deleted.
    create table drive_objects (
      workspace_id uuid not null,
      space_id uuid not null,
      key text collate "C" not null,
      blob_id uuid,
      size_bytes bigint not null default 0,
      content_type text not null default '',
      sha256 text not null default '',
      created_by uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint drive_objects_key primary key (workspace_id, space_id, key),
      constraint drive_objects_space foreign key (workspace_id, space_id) references drive_spaces,
      check (octet_length(key) between 1 and 1032),
      check ((right(key, 1) = '/') = (blob_id is null))
    );
    create index drive_objects_recent on drive_objects (workspace_id, space_id, updated_at desc, key desc) where blob_id is not null;
    -- Searches by the names of files: by trigrams, and by letters and pairs for texts without a trigram.
    create index drive_objects_named on drive_objects
      using gin (space_id, (lower(split_part(key, '/', -1) collate "pg_c_utf8")) gin_trgm_ops)
      with (gin_pending_list_limit = 512) where blob_id is not null;
    create index drive_objects_named_short on drive_objects
      using gin (space_id, letter_pairs(lower(split_part(key, '/', -1) collate "pg_c_utf8")))
      with (gin_pending_list_limit = 512) where blob_id is not null;
    create trigger drive_objects_hold_blob after insert or delete or update of blob_id on drive_objects
      for each row execute function hold_blob();

    -- Files and bytes of a space by type, updated by triggers, so that nothing is counted by reading objects.
    create table drive_totals (
      workspace_id uuid not null,
      space_id uuid not null,
      content_type text not null,
      files bigint not null,
      bytes bigint not null,
      primary key (workspace_id, space_id, content_type),
      foreign key (workspace_id, space_id) references drive_spaces on delete cascade
    );

    create function count_drive_objects() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into drive_totals as total
        select workspace_id, space_id, content_type, count(*), sum(size_bytes) from gained where blob_id is not null
        group by 1, 2, 3 order by 1, 2, 3
        on conflict (workspace_id, space_id, content_type)
          do update set files = total.files + excluded.files, bytes = total.bytes + excluded.bytes;
      elsif tg_op = 'DELETE' then
        update drive_totals as total set files = total.files - gone.files, bytes = total.bytes - gone.bytes
        from (
          select workspace_id, space_id, content_type, count(*) as files, sum(size_bytes) as bytes from lost where blob_id is not null
          group by 1, 2, 3 order by 1, 2, 3
        ) as gone
        where total.workspace_id = gone.workspace_id and total.space_id = gone.space_id and total.content_type = gone.content_type;
      else
        insert into drive_totals as total
        select workspace_id, space_id, content_type, sum(files), sum(bytes) from (
          select workspace_id, space_id, content_type, 1 as files, size_bytes as bytes from gained where blob_id is not null
          union all
          select workspace_id, space_id, content_type, -1, -size_bytes from lost where blob_id is not null
        ) as moved
        group by 1, 2, 3 having sum(files) <> 0 or sum(bytes) <> 0 order by 1, 2, 3
        on conflict (workspace_id, space_id, content_type)
          do update set files = total.files + excluded.files, bytes = total.bytes + excluded.bytes;
      end if;
      return null;
    end $$;
    create trigger drive_objects_gained after insert on drive_objects
      referencing new table as gained for each statement execute function count_drive_objects();
    create trigger drive_objects_changed after update on drive_objects
      referencing old table as lost new table as gained for each statement execute function count_drive_objects();
    create trigger drive_objects_lost after delete on drive_objects
      referencing old table as lost for each statement execute function count_drive_objects();

    -- The bytes of all files of a workspace, those of websites included: what the plan limits.
    create table file_usage (
      workspace_id uuid primary key references workspaces on delete cascade,
      total_bytes bigint not null check (total_bytes >= 0)
    );

    -- One per grantee and prefix; a share without a grantee is for every member. Uniqueness is checked at the end of a statement, because a
    -- move changes many prefixes at once.
    create table drive_shares (
      workspace_id uuid not null,
      id uuid not null,
      space_id uuid not null,
      prefix text collate "C" not null,
      grantee_id uuid references users on delete cascade,
      mode text not null check (mode in ('view', 'edit')),
      -- Since when the grantee is no member any more.
      left_at timestamptz,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      constraint drive_shares_once unique nulls not distinct (workspace_id, space_id, prefix, grantee_id) deferrable initially immediate,
      foreign key (workspace_id, space_id) references drive_spaces on delete cascade
    );
    create index drive_shares_grantee on drive_shares (workspace_id, grantee_id);
    create index drive_shares_left on drive_shares (left_at) where left_at is not null;

    -- The spaces and shares of a member who leaves become unreachable in the same transaction, and reachable when the member returns.
    create function follow_member_drives() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        update drive_spaces set left_at = clock_timestamp() where workspace_id = old.workspace_id and owner_id = old.user_id;
        update drive_shares set left_at = clock_timestamp() where workspace_id = old.workspace_id and grantee_id = old.user_id;
      else
        update drive_spaces set left_at = null where workspace_id = new.workspace_id and owner_id = new.user_id and left_at is not null;
        update drive_shares set left_at = null where workspace_id = new.workspace_id and grantee_id = new.user_id and left_at is not null;
      end if;
      return null;
    end $$;
    create trigger members_follow_drives after insert or delete on members for each row execute function follow_member_drives();
  `)
}
