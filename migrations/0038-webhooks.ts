import type { Knex } from 'knex'

/** Webhooks and their deliveries. Locks `members` and `service_accounts` for a moment, for their triggers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    create table webhooks (
      workspace_id uuid not null references workspaces (id) on delete cascade,
      id uuid not null,
      url text not null,
      description text not null,
      -- Types of events as they were sent, such as records.*.
      types text[] not null,
      object_type text,
      filter json,
      -- Keys of the fields that the filter names: events of updates keep their values.
      filter_keys text[] not null default '{}',
      -- The account with whose rights events are shown; null for those of the maker.
      service_account_id uuid,
      maker_id uuid not null,
      status text not null default 'active' check (status in ('active', 'failing', 'disabled')),
      -- The first of the failed tries since the last one that was taken.
      failing_since timestamptz,
      -- Whether people were told that it has been failing for a day.
      is_failure_reported boolean not null default false,
      last_delivery_at timestamptz,
      -- When the first of the waiting deliveries is due, as of the end of the last run.
      next_attempt_at timestamptz,
      secret_sealed bytea not null,
      -- The secret before the last rotation, which signs too until then.
      previous_secret_sealed bytea,
      previous_secret_until timestamptz,
      -- Events up to this number have been looked at.
      seen_seq bigint not null,
      -- When its job was enqueued that has not begun.
      queued_at timestamptz,
      -- The run that sends its deliveries, one at a time; a run that was killed ends at run_until.
      run_id uuid,
      run_until timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id),
      constraint webhooks_failing check ((failing_since is not null) = (status = 'failing')),
      constraint webhooks_previous check ((previous_secret_sealed is null) = (previous_secret_until is null))
    );
    create trigger webhooks_cap after insert on webhooks for each row execute function limit_rows('100', 'true');
    create index webhooks_enabled on webhooks (workspace_id) where status <> 'disabled';
    create index webhooks_queued on webhooks (queued_at) where queued_at is not null;
    create index webhooks_failing_since on webhooks (failing_since) where failing_since is not null;
    create index webhooks_accounts on webhooks (workspace_id, service_account_id) where service_account_id is not null;
    create index webhooks_makers on webhooks (workspace_id, maker_id);
    -- Only what changes of records have to know is remembered.
    create trigger webhooks_added after insert or delete on webhooks for each row execute function invalidate_cache('workspace_id');
    create trigger webhooks_changed after update on webhooks for each row
      when ((old.object_type, old.filter_keys, old.status = 'disabled') is distinct from (new.object_type, new.filter_keys, new.status = 'disabled'))
      execute function invalidate_cache('workspace_id');

    -- An event that is sent by a webhook. Small: the event is shown anew at each try.
    create table webhook_deliveries (
      workspace_id uuid not null,
      webhook_id uuid not null,
      id uuid not null default uuidv7(),
      -- Null for the example that a test sends.
      event_seq bigint,
      event_id uuid not null,
      type text not null,
      status text not null default 'waiting' check (status in ('waiting', 'delivered', 'failed')),
      -- Tries since it was made, or was to be sent again.
      tries integer not null default 0,
      -- How often it was to be sent again.
      round integer not null default 0,
      -- The last tries.
      attempts jsonb not null default '[]',
      next_attempt_at timestamptz,
      created_at timestamptz not null,
      primary key (workspace_id, webhook_id, id),
      constraint webhook_deliveries_webhook foreign key (workspace_id, webhook_id) references webhooks (workspace_id, id) on delete cascade,
      constraint webhook_deliveries_event unique (workspace_id, webhook_id, event_seq),
      constraint webhook_deliveries_waiting check ((status = 'waiting') = (next_attempt_at is not null))
    );
    create index webhook_deliveries_first on webhook_deliveries (workspace_id, webhook_id, event_seq) where status = 'waiting' and tries = 0;
    create index webhook_deliveries_again on webhook_deliveries (workspace_id, webhook_id, next_attempt_at)
      where status = 'waiting' and tries > 0;
    create index webhook_deliveries_open on webhook_deliveries (workspace_id, webhook_id, status, id) where status <> 'delivered';
    create index webhook_deliveries_old on webhook_deliveries (created_at);

    -- Nothing waits for a webhook that is off.
    create function end_webhook_deliveries() returns trigger language plpgsql as $$
    begin
      update webhook_deliveries set status = 'failed', next_attempt_at = null
      where workspace_id = new.workspace_id and webhook_id = new.id and status = 'waiting';
      return null;
    end $$;
    create trigger webhooks_disabled after update on webhooks for each row
      when (new.status = 'disabled' and old.status <> 'disabled') execute function end_webhook_deliveries();

    -- A webhook is off once the account whose rights it has, or its maker, is gone. Argument: the column of the account's id.
    create function disable_webhooks() returns trigger language plpgsql as $$
    declare
      gone uuid := (to_jsonb(old) ->> tg_argv[0])::uuid;
    begin
      update webhooks set status = 'disabled', failing_since = null, next_attempt_at = null, updated_at = now()
      where workspace_id = old.workspace_id and status <> 'disabled' and (service_account_id = gone or maker_id = gone);
      return null;
    end $$;
    create trigger members_disable_webhooks after delete on members for each row execute function disable_webhooks('user_id');
    create trigger service_accounts_disable_webhooks after delete on service_accounts
      for each row execute function disable_webhooks('id');
  `)
}
