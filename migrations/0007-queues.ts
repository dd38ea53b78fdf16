import type { Knex } from 'knex'

/** Work queues: definitions, stages, items, counts, and an append-only history. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table queues (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      key text not null,
      name text not null,
      object_type text,
      enabled boolean not null,
      -- JSON as it was sent: jsonb would expand a number such as 1e100000 to its digits.
      stages json not null,
      intake json not null,
      settings json not null,
      -- Who last changed the definition: intake acts with the rights of this principal.
      editor_id uuid,
      -- A deleted queue is hidden at once; a worker deletes its rows.
      deleted_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      primary key (workspace_id, id)
    );
    create unique index queues_key on queues (workspace_id, key) where deleted_at is null;
    create trigger queues_changed after insert or delete or update on queues for each row execute function invalidate_cache('workspace_id');

    -- A move locks the row of its stage while it counts for wip_limit. A stage with open items cannot be removed (queue_items_stage).
    create table queue_stages (
      workspace_id uuid not null,
      queue_id uuid not null,
      key text not null,
      primary key (workspace_id, queue_id, key),
      foreign key (workspace_id, queue_id) references queues on delete cascade
    ) with (fillfactor = 50);

    create table queue_items (
      workspace_id uuid not null,
      queue_id uuid not null,
      id uuid not null default uuidv7(),
      key text not null,
      -- The queue's id. When the queue allows several open items with one key, each further one has its own id here.
      twin uuid not null,
      stage text not null,
      status text not null check (status in ('open', 'done', 'failed', 'cancelled')),
      open_stage text generated always as (case when status = 'open' then stage end) stored,
      priority integer not null,
      source text not null check (source in ('manual', 'scan', 'import', 'intake', 'function')),
      batch text not null,
      record_id uuid,
      payload json not null,
      assignee_id text not null,
      due_at timestamptz,
      claimed_by uuid,
      claim_token text,
      claim_expires_at timestamptz,
      -- Principals whose claim of the item expired in its stage.
      lapsed uuid[] not null default '{}',
      attempts integer not null default 0,
      -- The number of changes in the item's history.
      version integer not null default 1,
      entered_stage_at timestamptz not null,
      created_at timestamptz not null,
      closed_at timestamptz,
      primary key (workspace_id, queue_id, id),
      constraint queue_items_claim check ((claimed_by is null) = (claim_token is null) and (claimed_by is null) = (claim_expires_at is null)),
      constraint queue_items_closed check ((closed_at is null) = (status = 'open') and (status = 'open' or claimed_by is null)),
      constraint queue_items_payload check (json_typeof(payload) = 'object'),
      constraint queue_items_stage foreign key (workspace_id, queue_id, open_stage) references queue_stages (workspace_id, queue_id, key)
    );
    -- Open items: by key, in the order of claims, of the whole queue and of a stage, by age in a stage, and by due time.
    create unique index queue_items_open_key on queue_items (workspace_id, queue_id, key, twin) where status = 'open';
    create index queue_items_waiting on queue_items (workspace_id, queue_id, priority desc, id) where status = 'open';
    create index queue_items_in_stage on queue_items (workspace_id, queue_id, stage, priority desc, id) where status = 'open';
    create index queue_items_entered on queue_items (workspace_id, queue_id, stage, entered_stage_at) where status = 'open';
    create index queue_items_due on queue_items (workspace_id, queue_id, due_at) where status = 'open' and due_at is not null;
    -- Closed items.
    create index queue_items_ended on queue_items (workspace_id, queue_id, stage, closed_at desc, id desc) where status <> 'open';
    create index queue_items_by_key on queue_items (workspace_id, queue_id, key, id) where status <> 'open';
    -- All items.
    create index queue_items_of_batch on queue_items (workspace_id, queue_id, batch, id) where batch <> '';
    create index queue_items_of_record on queue_items (workspace_id, record_id, queue_id, id) where record_id is not null;
    create index queue_items_of_assignee on queue_items (workspace_id, queue_id, assignee_id, id) where assignee_id <> '';

    -- Numbers of items, for the whole queue (batch '') and again for each batch. A count is the sum of its shares: each connection counts in
    -- its own share, so two moves seldom wait for one row. 'unexpected' are items that a scan made.
    create table queue_counts (
      workspace_id uuid not null,
      queue_id uuid not null,
      batch text not null,
      stage text not null,
      status text not null,
      unexpected boolean not null,
      share smallint not null,
      items bigint not null,
      primary key (workspace_id, queue_id, batch, stage, status, unexpected, share),
      foreign key (workspace_id, queue_id) references queues on delete cascade
    ) with (fillfactor = 50);

    create table queue_history (
      workspace_id uuid not null,
      queue_id uuid not null,
      id uuid not null default uuidv7(),
      -- Null for a scan of an unknown key.
      item_id uuid,
      key text not null,
      kind text not null check (kind in
        ('added', 'moved', 'claimed', 'released', 'expired', 'edited', 'deleted', 'button', 'scanned', 'cancelled')),
      from_stage text,
      to_stage text,
      status text,
      verdict text,
      payload json,
      -- The number of the change, from 1 on for each item, and the item's row after it; an entry that changed nothing has no number.
      version integer,
      facts jsonb not null,
      -- The claim that a move or release without its token has ended.
      previous_claimer_id uuid,
      previous_claim_until timestamptz,
      scan_id text,
      scanned_at timestamptz,
      station text,
      -- Of an item that intake added: the change of the record.
      event_id uuid,
      actor_id uuid,
      actor_type text not null,
      note text not null,
      created_at timestamptz not null,
      primary key (workspace_id, queue_id, id),
      constraint queue_history_version check (version is not null or kind in ('scanned', 'button'))
    );
    create index queue_history_of_item on queue_history (workspace_id, queue_id, item_id, id) where item_id is not null;
    -- A repeated scan or event has one effect.
    create unique index queue_history_scan on queue_history (workspace_id, queue_id, scan_id) where scan_id is not null;
    create unique index queue_history_event on queue_history (workspace_id, queue_id, event_id) where event_id is not null and kind = 'added';
    -- Searches in the keys of items: by the entries that added them, which never change, while an item's row is written at each move. By
    -- trigrams, and by letters and pairs for texts without a trigram.
    create index queue_history_keys on queue_history using gin (queue_id, lower(key collate "pg_c_utf8") gin_trgm_ops)
      with (gin_pending_list_limit = 512) where kind = 'added';
    create index queue_history_short_keys on queue_history using gin (queue_id, letter_pairs(lower(key collate "pg_c_utf8")))
      with (gin_pending_list_limit = 512) where kind = 'added';

    -- History is append-only; it is deleted with its queue.
    create function keep_queue_history() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and not exists (
        select from queues where workspace_id = old.workspace_id and id = old.queue_id and deleted_at is null
      ) then return old; end if;
      raise exception 'the history of a queue is only added to';
    end $$;
    create trigger queue_history_stays before update or delete on queue_history for each row execute function keep_queue_history();
  `)
}
