import type { Knex } from 'knex'

/**
 * Which failures of operations a caller has been told, the processes of the installation, and the deletion of workspaces. Locks
 * `operations`, `workspaces` and the tables that only grow exclusively for a moment; no table is rewritten.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- When a caller was first told that the work failed; null when nobody was, or when it was retried since.
    alter table operations add column failure_answered_at timestamptz;

    -- A row for each process. A process that stops deletes its own; the row of one that died keeps its last heartbeat.
    create table processes (
      id uuid primary key,
      -- 'api', or 'worker' with its pools.
      kind text not null,
      pools text[] not null,
      host text not null,
      pid integer not null,
      release text not null,
      started_at timestamptz not null,
      heartbeat_at timestamptz not null,
      -- By how much its clock is ahead of the database's, in milliseconds.
      skew_ms integer not null,
      memory_bytes bigint not null,
      -- The jobs that it ran at its last heartbeat: [{job, id, workspace_id, since}].
      running jsonb not null
    );

    -- Set once an operator has asked for the deletion of the workspace, which stays suspended until its row goes, last of all.
    alter table workspaces add column deleting_at timestamptz;
    alter table workspaces add constraint workspaces_deleting_rests check (deleting_at is null or status = 'suspended');

    create function is_being_deleted(workspace uuid) returns boolean language sql stable as
      'select exists (select from workspaces where id = workspace and deleting_at is not null)';

    -- Rows that only grow leave with their workspace.
    create function refuse_removal() returns trigger language plpgsql as $$
    begin
      if is_being_deleted(old.workspace_id) then return old; end if;
      raise exception '% only grows', tg_table_name;
    end $$;
    drop trigger audit_entries_stay on audit_entries;
    create trigger audit_entries_stay before update or truncate on audit_entries for each statement execute function refuse_change();
    create trigger audit_entries_remain before delete on audit_entries for each row execute function refuse_removal();
    drop trigger journal_entries_stay on journal_entries;
    create trigger journal_entries_stay before update or truncate on journal_entries for each statement execute function refuse_change();
    create trigger journal_entries_remain before delete on journal_entries for each row execute function refuse_removal();
    drop trigger journal_lines_stay on journal_lines;
    create trigger journal_lines_stay before update or truncate on journal_lines for each statement execute function refuse_change();
    create trigger journal_lines_remain before delete on journal_lines for each row execute function refuse_removal();
    drop trigger ledger_seals_stay on ledger_seals;
    create trigger ledger_seals_stay before update or truncate on ledger_seals for each statement execute function refuse_change();
    create trigger ledger_seals_remain before delete on ledger_seals for each row execute function refuse_removal();

    create or replace function keep_queue_history() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and (is_being_deleted(old.workspace_id) or not exists (
        select from queues where workspace_id = old.workspace_id and id = old.queue_id and deleted_at is null
      )) then return old; end if;
      raise exception 'the history of a queue is only added to';
    end $$;
  `)
}
