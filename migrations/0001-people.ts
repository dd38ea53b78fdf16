import type { Knex } from 'knex'

/** People, workspaces, keys, roles, and the trail by which caches hear of changes. New tables only: takes no lock that anyone waits for. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create extension if not exists pg_trgm;

    create table cache_changes (
      id bigint generated always as identity primary key,
      written_in xid8 not null default pg_current_xact_id(),
      scope text not null,
      created_at timestamptz not null default now()
    );
    create index cache_changes_written_in on cache_changes (written_in);

    -- One row per change and scope; the scope is a workspace's or a person's id, taken from the column that the trigger names.
    create function note_change() returns trigger language plpgsql as $$
    declare
      scope text;
    begin
      scope := case when tg_op = 'DELETE' then to_jsonb(old) ->> tg_argv[0] else to_jsonb(new) ->> tg_argv[0] end;
      insert into cache_changes (scope) values (scope);
      return null;
    end $$;

    create table users (
      id uuid primary key,
      email text not null,
      name text not null,
      password_hash text not null,
      created_at timestamptz not null default now()
    );
    create unique index users_email on users (lower(email));

    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      token_hash bytea not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create unique index sessions_token_hash on sessions (token_hash);
    create index sessions_user on sessions (user_id);

    create table password_resets (
      token_hash bytea primary key,
      user_id uuid not null references users on delete cascade,
      expires_at timestamptz not null
    );
    create index password_resets_user on password_resets (user_id);

    create table workspaces (
      id uuid primary key,
      name text not null,
      status text not null default 'provisioning' check (status in ('provisioning', 'active', 'suspended')),
      plan text not null check (plan in ('free', 'paid')),
      owner_id uuid not null references users,
      default_currency text not null default 'USD',
      timezone text not null default 'UTC',
      apps jsonb not null default '{"functions": true, "payments": true, "queues": true, "calendar": true, "accounting": true}',
      multi_currency boolean not null default false,
      created_at timestamptz not null default now()
    );
    create index workspaces_owner on workspaces (owner_id);

    create table members (
      workspace_id uuid not null references workspaces on delete cascade,
      user_id uuid not null references users on delete cascade,
      created_at timestamptz not null default now(),
      primary key (workspace_id, user_id)
    );
    create index members_user on members (user_id);

    create table invitations (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      email text not null,
      role_ids uuid[] not null,
      invited_by uuid,
      token_hash bytea not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create unique index invitations_token_hash on invitations (token_hash);
    create unique index invitations_email on invitations (workspace_id, lower(email));

    create table service_accounts (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );

    create table access_keys (
      workspace_id uuid not null,
      id uuid not null,
      service_account_id uuid not null,
      name text not null,
      prefix text not null,
      secret_hash bytea not null,
      expires_at timestamptz,
      created_at timestamptz not null default now(),
      primary key (workspace_id, id),
      foreign key (workspace_id, service_account_id) references service_accounts on delete cascade
    );
    create unique index access_keys_secret_hash on access_keys (secret_hash);
    create index access_keys_account on access_keys (workspace_id, service_account_id);

    create table roles (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      description text not null default '',
      policy jsonb not null,
      is_anonymous boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );

    -- A principal is a member or a service account; which of the two it is, its own table says.
    create table role_members (
      workspace_id uuid not null,
      role_id uuid not null,
      principal_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (workspace_id, role_id, principal_id),
      foreign key (workspace_id, role_id) references roles on delete cascade
    );
    create index role_members_principal on role_members (workspace_id, principal_id);

    -- Whoever leaves a workspace leaves its roles: the rows that name a principal go with it.
    create function drop_role_members() returns trigger language plpgsql as $$
    begin
      delete from role_members where workspace_id = old.workspace_id and principal_id = (to_jsonb(old) ->> tg_argv[0])::uuid;
      return null;
    end $$;
    create trigger members_leave_roles after delete on members for each row execute function drop_role_members('user_id');
    create trigger service_accounts_leave_roles after delete on service_accounts for each row execute function drop_role_members('id');

    create trigger users_changed after update or delete on users for each row execute function note_change('id');
    create trigger sessions_changed after delete on sessions for each row execute function note_change('user_id');
    create trigger workspaces_changed after update or delete on workspaces for each row execute function note_change('id');
    create trigger members_changed after insert or update or delete on members for each row execute function note_change('workspace_id');
    create trigger service_accounts_changed after update or delete on service_accounts for each row execute function note_change('workspace_id');
    create trigger access_keys_changed after update or delete on access_keys for each row execute function note_change('workspace_id');
    create trigger roles_changed after insert or update or delete on roles for each row execute function note_change('workspace_id');
    create trigger role_members_changed after insert or update or delete on role_members for each row execute function note_change('workspace_id');
  `)
}
