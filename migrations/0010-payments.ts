import type { Knex } from 'knex'

/** Accounts at payment providers, payment links, what providers report about them, and the sandbox, which is a provider itself. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table payment_connections (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      provider text not null check (provider in ('sandbox', 'stripe', 'razorpay')),
      name text not null,
      mode text not null check (mode in ('live', 'test')),
      redirect_url text,
      -- Encrypted JSON; null once the connection is deleted and has nothing left to do at its provider.
      credentials bytea,
      status text not null default 'unchecked' check (status in ('unchecked', 'ok', 'failed')),
      last_checked_at timestamptz,
      last_error text,
      created_at timestamptz not null,
      deleted_at timestamptz,
      primary key (workspace_id, id)
    );
    -- A webhook names only the connection.
    create index payment_connections_id on payment_connections (id);

    -- The time up to which the provider was polled: it changes every few minutes, and the connection's row does not.
    create table payment_sweeps (
      workspace_id uuid not null,
      connection_id uuid not null,
      polled_until timestamptz not null,
      primary key (workspace_id, connection_id),
      foreign key (workspace_id, connection_id) references payment_connections on delete cascade
    );

    create table payment_links (
      workspace_id uuid not null,
      id uuid not null,
      connection_id uuid not null,
      provider text not null,
      -- The provider's id of the link; null until it has answered.
      provider_link_id text,
      short_url text not null default '',
      amount numeric(20, 6) not null check (amount > 0),
      currency text not null,
      status text not null default 'created' check (status in ('created', 'paid', 'cancelled', 'expired')),
      description text not null,
      invoice_id uuid,
      redirect_url text,
      customer_name text not null,
      customer_email text not null,
      customer_contact text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null,
      created_by uuid,
      -- Repeated work makes one link.
      deduplication_key text not null,
      paid_at timestamptz,
      payment_record_id uuid,
      primary key (workspace_id, id),
      constraint payment_links_deduplication_key unique (workspace_id, deduplication_key),
      constraint payment_links_paid check ((status = 'paid') = (paid_at is not null)),
      foreign key (workspace_id, connection_id) references payment_connections on delete cascade
    );
    create index payment_links_newest on payment_links (workspace_id, created_at desc, id desc);
    create index payment_links_provider on payment_links (workspace_id, connection_id, provider_link_id) where provider_link_id is not null;
    create index payment_links_open on payment_links (workspace_id, connection_id, id) where status = 'created';

    -- Events that providers report, each once and for ever. The key is the provider's id of the event, or a digest of its body.
    create table payment_events (
      workspace_id uuid not null,
      connection_id uuid not null,
      event_key text not null,
      source text not null check (source in ('webhook', 'sweep')),
      body bytea not null,
      body_hash bytea not null,
      received_at timestamptz not null,
      -- For an event that arrives before the answer that contains this id of the link.
      provider_link_id text,
      -- Set when the event was applied.
      link_id uuid,
      primary key (workspace_id, connection_id, event_key),
      foreign key (workspace_id, connection_id) references payment_connections on delete cascade
    );
    create index payment_events_unmatched on payment_events (workspace_id, connection_id, provider_link_id)
      where link_id is null and provider_link_id is not null;

    -- Payments as providers report them. The transaction that sets recorded_at creates the one payments record.
    create table provider_payments (
      workspace_id uuid not null,
      connection_id uuid not null,
      provider_payment_id text not null,
      -- Null while only a refund or a dispute of it is known.
      link_id uuid,
      amount numeric(20, 6),
      currency text,
      paid_at timestamptz,
      payer_name text not null default '',
      payer_email text not null default '',
      -- Whether amount and currency are those of the link.
      fits boolean not null default false,
      -- Whether the link had ended before it was paid.
      late boolean not null default false,
      refunded numeric(20, 6) not null default 0,
      disputed boolean not null default false,
      recorded_at timestamptz,
      payment_record_id uuid,
      created_at timestamptz not null,
      primary key (workspace_id, connection_id, provider_payment_id),
      foreign key (workspace_id, connection_id) references payment_connections on delete cascade
    );
    create index provider_payments_link on provider_payments (workspace_id, link_id) where link_id is not null;
    create index provider_payments_record on provider_payments (workspace_id, payment_record_id) where payment_record_id is not null;

    -- The history of a link. Entries are never changed; they are deleted with their link.
    create table payment_timeline (
      workspace_id uuid not null,
      link_id uuid not null,
      id uuid not null default uuidv7(),
      at timestamptz not null,
      source text not null check (source in ('person', 'webhook', 'refresh', 'sweep')),
      provider_event_id text,
      provider_payment_id text,
      before text,
      after text not null,
      verdict text not null,
      primary key (workspace_id, link_id, id),
      foreign key (workspace_id, link_id) references payment_links on delete cascade
    );
    create trigger payment_timeline_stays before update or truncate on payment_timeline
      for each statement execute function refuse_change();

    -- The sandbox's side: what a real provider would store.
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
