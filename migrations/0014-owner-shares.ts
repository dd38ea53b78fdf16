import type { Knex } from 'knex'

/**
 * Workspaces of one owner share slots and connections: `workspaces.share_id`, and `users.shares_apart` for owners whose workspaces count one
 * by one. Takes an exclusive lock on `users` and `workspaces` while it writes a row per workspace.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';
    -- Whether the workspaces that the person owns count one by one.
    alter table users add column shares_apart boolean not null default false;

    -- Workspaces with the same share_id together get what one workspace may have while others wait: the owner's id, or the workspace's own
    -- id where its owner's workspaces count one by one.
    alter table workspaces add column share_id uuid;
    update workspaces set share_id = owner_id;
    alter table workspaces alter column share_id set not null;
    create index workspaces_share on workspaces (share_id, id);

    -- The lock on the owner makes a concurrent change of shares_apart wait, or waits for it.
    create function set_workspace_share() returns trigger language plpgsql as $$
    begin
      select case when shares_apart then new.id else id end into new.share_id from users where id = new.owner_id for share;
      return new;
    end $$;
    create trigger workspaces_set_share before insert or update of owner_id on workspaces for each row execute function set_workspace_share();

    -- Processes remember the workspaces of a share.
    create function invalidate_shares() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        insert into cache_invalidations (scope) values (old.share_id);
      end if;
      if tg_op <> 'DELETE' then
        insert into cache_invalidations (scope) values (new.share_id);
      end if;
      return null;
    end $$;
    create trigger workspaces_shares_changed after insert or delete or update of owner_id, share_id on workspaces
      for each row execute function invalidate_shares();
  `)
}
