import type { Knex } from 'knex'

/** The operators of the installation, their sessions in the console, and the log of what they did. Locks nothing: the tables are new. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table operators (
      user_id uuid primary key references users on delete cascade,
      -- Sees everything that operators see, and changes nothing.
      read_only boolean not null default false,
      created_at timestamptz not null default now()
    );

    -- Sessions of the console's pages; they end with the operator.
    create table operator_sessions (
      id uuid primary key,
      user_id uuid not null references operators on delete cascade,
      token_hash bytea not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create unique index operator_sessions_token_hash on operator_sessions (token_hash);
    create index operator_sessions_user on operator_sessions (user_id);
    create index operator_sessions_expires_at on operator_sessions (expires_at);

    -- A new password ends the sessions that the old one opened. A row whose password has not changed does not get here.
    create function end_operator_sessions() returns trigger language plpgsql as $$
    begin
      delete from operator_sessions where user_id = new.id;
      return null;
    end $$;
    create trigger users_password_changed after update of password_hash on users for each row
      when (old.password_hash is distinct from new.password_hash) execute function end_operator_sessions();

    -- It names operators without a foreign key: an entry stays as it was written when its operator leaves.
    create table operator_log (
      id uuid primary key,
      at timestamptz not null default now(),
      -- Null for the command line.
      operator_id uuid,
      -- The operator's address, or the command line with the name of its user.
      operator text not null,
      action text not null,
      subject jsonb not null check (jsonb_typeof(subject) = 'object'),
      -- How many things the action changed.
      count integer not null check (count > 0)
    );
    create trigger operator_log_stays before update or delete or truncate on operator_log
      for each statement execute function refuse_change();
  `)
}
