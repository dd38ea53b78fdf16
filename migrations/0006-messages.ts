import type { Knex } from 'knex'

/** Messages of workspaces: their mail servers, templates, and the addresses that want no messages. The outbox is the platform's. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Password, key and webhook secret are encrypted: the database alone cannot read them.
    create table message_connections (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      host text not null,
      port integer not null check (port between 1 and 65535),
      secure boolean not null,
      username text not null,
      password bytea,
      from_address text not null,
      dkim_domain text,
      dkim_selector text,
      dkim_key bytea,
      webhook_secret bytea not null,
      status text not null default 'unchecked' check (status in ('unchecked', 'ok', 'failed')),
      error text,
      checked_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, id),
      check (num_nulls(dkim_domain, dkim_selector, dkim_key) in (0, 3))
    );
    -- A provider's callback names only the connection.
    create unique index message_connections_id on message_connections (id);

    create table message_templates (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      subject text not null,
      body_text text not null,
      body_html text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, id)
    );
    create trigger message_templates_cap after insert on message_templates for each row execute function limit_rows('1000', 'true');

    create table do_not_contact (
      workspace_id uuid not null references workspaces on delete cascade,
      -- In the spelling by which addresses are compared.
      address text collate "C" not null,
      reason text not null check (reason in ('unsubscribed', 'complaint')),
      message_id uuid,
      created_at timestamptz not null,
      primary key (workspace_id, address)
    );
  `)
}
