import type { Knex } from 'knex'

/** What the sandbox keeps as a payment provider: its links, what payers did on its page, and what it has to tell. New tables only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table sandbox_links (
      workspace_id uuid not null,
      connection_id uuid not null,
      id uuid not null,
      amount numeric(20, 6) not null,
      currency text not null,
      description text not null,
      customer_name text not null,
      customer_email text not null,
      redirect_url text,
      active boolean not null default true,
      expires_at timestamptz not null,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      foreign key (workspace_id, connection_id) references payment_connections on delete cascade
    );

    create table sandbox_payments (
      workspace_id uuid not null,
      connection_id uuid not null,
      id text not null,
      link_id uuid not null,
      outcome text not null check (outcome in ('paid', 'declined')),
      payer_name text not null,
      payer_email text not null,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      foreign key (workspace_id, link_id) references sandbox_links on delete cascade
    );
    create index sandbox_payments_link on sandbox_payments (workspace_id, link_id, id);
    create index sandbox_payments_since on sandbox_payments (workspace_id, connection_id, created_at, id);
    -- A link is paid once.
    create unique index sandbox_payments_paid on sandbox_payments (workspace_id, link_id) where outcome = 'paid';
  `)
}
