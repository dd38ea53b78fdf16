import type { Knex } from 'knex'

/**
 * Messages of workspaces: the ways out that they name, templates, and who wants none. Adds columns without values to the outbox and
 * replaces its check, under a lock that other statements on it wait for while its rows are read once.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Secrets are sealed: the database alone cannot read them.
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
    -- A provider's callback names the connection alone.
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

    -- The address in the one spelling by which addresses are compared.
    create table do_not_contact (
      workspace_id uuid not null references workspaces on delete cascade,
      address text collate "C" not null,
      reason text not null check (reason in ('unsubscribed', 'complaint')),
      message_id uuid,
      created_at timestamptz not null,
      primary key (workspace_id, address)
    );

    alter table outbox_mails
      drop constraint outbox_mails_status_check,
      add constraint outbox_mails_status_check
        check (status in ('queued', 'sending', 'sent', 'uncertain', 'failed', 'bounced', 'skipped')),
      add column connection_id uuid,
      add column template_id uuid,
      add column record_type text,
      add column record_id uuid,
      add column natural_key text,
      -- The spellings under which the recipient may stand on the do-not-contact list; null for mail that goes out all the same.
      add column contact_keys text[],
      -- Whether it was handed over twice, with no answer to the first time: there is no third.
      add column second_try boolean not null default false,
      add column is_erased boolean not null default false;

    create unique index outbox_mails_natural_key on outbox_mails (workspace_id, natural_key) where natural_key is not null;
    create index outbox_mails_messages on outbox_mails (workspace_id, id) where kind = 'message';
    create index outbox_mails_records on outbox_mails (workspace_id, record_id, id) where record_id is not null;
    create index outbox_mails_texts on outbox_mails (created_at) where kind = 'message' and not is_erased;
  `)
}
