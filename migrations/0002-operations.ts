import type { Knex } from 'knex'

/** Work that callers wait for, files that jobs take and make, outgoing mail, and counters of rate limits. New tables only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table operations (
      id uuid primary key,
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      job text not null,
      principal_id uuid,
      request_id text not null,
      status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed')),
      progress json,
      checkpoint json,
      result json,
      error json,
      file_id uuid,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz
    );
    create index operations_open on operations (created_at) where status in ('queued', 'running');
    create index operations_finished on operations (finished_at) where finished_at is not null;
    create index operations_workspace on operations (workspace_id);

    -- What a request uploads for a worker and what a worker makes for a download: in pieces, so that nobody holds the whole.
    create table job_files (
      id uuid primary key,
      workspace_id uuid references workspaces on delete cascade,
      content_type text not null,
      name text not null default '',
      headers jsonb not null default '{}',
      size_bytes bigint not null default 0,
      complete boolean not null default false,
      created_at timestamptz not null default now()
    );
    create index job_files_created on job_files (created_at);
    create index job_files_workspace on job_files (workspace_id);
    create table job_file_chunks (
      file_id uuid not null references job_files on delete cascade,
      position integer not null,
      bytes bytea not null,
      primary key (file_id, position)
    );
    -- Chunks are compressed CSV at best once; do not spend time on trying.
    alter table job_file_chunks alter column bytes set storage external;

    -- Outgoing mail, written in the same transaction as what caused it and sent by a worker (decisions, Forms, website content, messages).
    create table outbox_mails (
      id uuid primary key,
      workspace_id uuid references workspaces on delete cascade,
      kind text not null,
      recipient text not null,
      subject text not null,
      body_text text not null,
      body_html text,
      headers jsonb not null default '{}',
      calendar jsonb,
      status text not null default 'queued' check (status in ('queued', 'sent', 'failed')),
      attempts integer not null default 0,
      last_error text,
      created_at timestamptz not null default now(),
      sent_at timestamptz
    );
    create index outbox_mails_created on outbox_mails (created_at);
    create index outbox_mails_workspace on outbox_mails (workspace_id, created_at);
    create index outbox_mails_recipient on outbox_mails (lower(recipient), created_at);

    -- Fixed windows, shared by all API processes. Unlogged: a crash forgives a minute of counting and costs no write-ahead log.
    create unlogged table rate_limits (
      key text primary key,
      points integer not null default 0,
      expire bigint
    );
    create index rate_limits_expire on rate_limits (expire);
  `)
}
