import type { Knex } from 'knex'

/** Flows with all versions of their definitions, their runs and steps, and counts of skipped events and of drafts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Positions of blocks on a drawing do not change what a flow does, so they are in no version.
    create table flows (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      name text not null,
      description text not null default '',
      enabled boolean not null default false,
      version integer not null default 1,
      positions json not null default '{}',
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (workspace_id, id)
    );
    create trigger flows_cap after insert on flows for each row execute function limit_rows('500', 'true');

    -- Every definition that a flow has had, the present one included. Runs of a version act with the rights of its editor.
    create table flow_versions (
      workspace_id uuid not null,
      flow_id uuid not null,
      version integer not null,
      nodes json not null,
      edges json not null,
      context json not null,
      editor_id uuid not null,
      created_at timestamptz not null,
      primary key (workspace_id, flow_id, version),
      foreign key (workspace_id, flow_id) references flows on delete cascade
    );
    create trigger flow_versions_stay before update on flow_versions for each statement execute function refuse_change();

    -- Runs outlive their flow.
    create table flow_runs (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      flow_id uuid not null,
      flow_name text not null,
      version integer not null,
      editor_id uuid not null,
      -- Whether it may reach what is personal of its editor.
      is_personal boolean not null default false,
      status text not null default 'queued' check (status in ('queued', 'running', 'ok', 'failed', 'cancelled')),
      -- What started it, {kind, event, object_type, record_id}, and all values that its references to the trigger read.
      trigger json not null,
      input json not null,
      -- Who may see both.
      trigger_visibility json,
      -- Identifies what started it, so that a repetition makes no second run: an audit entry, a scheduled instant, a request.
      trigger_key text not null,
      -- The request that started it, for traces.
      request_id text,
      depth integer not null,
      retry_of uuid,
      -- Grows with every write of the run: a process with an older number is superseded and writes nothing (refuse_superseded_run).
      revision integer not null default 0,
      steps integer not null default 0,
      -- Its progress through the flow; null once it is 'ok'.
      state json,
      -- What it waits for: a function's operation, a call outward, a time. Null while it can continue.
      waiting json,
      -- The job that continues it, and how often a lost one was replaced.
      job_id uuid,
      revived integer not null default 0,
      error json,
      created_at timestamptz not null,
      touched_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz,
      primary key (workspace_id, id),
      check ((finished_at is null) = (status in ('queued', 'running')))
    );
    create unique index flow_runs_once on flow_runs (workspace_id, flow_id, trigger_key) where retry_of is null;
    create unique index flow_runs_retry on flow_runs (workspace_id, retry_of) where retry_of is not null;
    create index flow_runs_flow on flow_runs (workspace_id, flow_id, id desc);
    create index flow_runs_failed on flow_runs (workspace_id, id desc) where status = 'failed';
    create index flow_runs_open on flow_runs (touched_at) where finished_at is null;
    create index flow_runs_finished on flow_runs (finished_at) where finished_at is not null;

    -- Called by a statement that finds that the run was superseded: it fails, and its transaction with it.
    create function refuse_superseded_run() returns boolean language plpgsql as $$
    begin
      raise exception 'the run was superseded' using errcode = 'KT001';
    end $$;

    -- A step is committed with its effect. The iteration is the path through the loops around it: '' outside of any, '3', '3.0'.
    create table flow_steps (
      workspace_id uuid not null,
      run_id uuid not null,
      node_id text not null,
      iteration text not null,
      place integer not null,
      node_type text not null,
      status text not null check (status in ('ok', 'failed')),
      -- The output, or the part of its text that is shown; flow_outputs then has the whole.
      output json,
      is_cut boolean not null default false,
      -- A digest of the block's input: a rehearsal compares it with the input that it would give.
      input_hash text,
      error json,
      started_at timestamptz not null,
      duration_ms integer not null,
      primary key (workspace_id, run_id, node_id, iteration),
      foreign key (workspace_id, run_id) references flow_runs on delete cascade
    );

    create table flow_outputs (
      workspace_id uuid not null,
      run_id uuid not null,
      node_id text not null,
      iteration text not null,
      output json not null,
      created_at timestamptz not null,
      primary key (workspace_id, run_id, node_id, iteration),
      foreign key (workspace_id, run_id) references flow_runs on delete cascade
    );
    create index flow_outputs_created on flow_outputs (created_at);

    -- Events that started no run, because a condition directly after the trigger was false. Each connection counts in its own share.
    create table flow_skips (
      workspace_id uuid not null references workspaces on delete cascade,
      flow_id uuid not null,
      hour timestamptz not null,
      share smallint not null,
      skipped integer not null,
      primary key (workspace_id, hour, flow_id, share)
    );
    create index flow_skips_hour on flow_skips (hour);

    -- Drafts that the assistant made on a day; the free plan limits them.
    create table flow_drafts (
      workspace_id uuid not null references workspaces on delete cascade,
      day date not null,
      drafts integer not null,
      primary key (workspace_id, day)
    );
    create index flow_drafts_day on flow_drafts (day);
  `)
}
