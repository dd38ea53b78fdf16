import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * Failed jobs once more in narrow rows, for searches of operators. The triggers lock `operations` against writers for a moment; failures of the
 * past are copied and indexes are dropped beside writers. Dead letters follow when the queues are installed (install-queues.ts).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';
    -- One row for each operation that has failed and was not cancelled, and for each dead letter of a job without an operation. Triggers keep
    -- them. A search of 100,000 failures reads 35 MB here instead of most pages of operations.
    create table if not exists job_failures (
      -- Of the operation, or of the job that the letter is about.
      id uuid primary key,
      is_letter boolean not null,
      created_at timestamptz not null,
      job text not null,
      workspace_id uuid,
      principal_id uuid,
      request_id text not null,
      -- Code and message of the error and, where it differs, what the last attempt met, in lower case, with chr(31) between them.
      text text not null
    );
    create index if not exists job_failures_created on job_failures (created_at, id);
    create index if not exists job_failures_job on job_failures (job, created_at, id);
    create index if not exists job_failures_workspace on job_failures (workspace_id, created_at, id);
    create index if not exists job_failures_principal on job_failures (principal_id, created_at, id)
      where principal_id is not null;
    create index if not exists job_failures_request on job_failures (request_id);
    create index if not exists job_failures_text on job_failures using gin (text gin_trgm_ops);

    create or replace function failure_text(code text, message text, attempt text) returns text language sql stable as $$
      select lower(concat_ws(chr(31), code, message, nullif(attempt, message)))
    $$;

    create or replace function follow_failure() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from job_failures where id = old.id;
      elsif new.status = 'failed' and not new.is_cancelled then
        insert into job_failures (id, is_letter, created_at, job, workspace_id, principal_id, request_id, text)
        values (new.id, false, new.created_at, new.job, new.workspace_id, new.principal_id, new.request_id,
          failure_text(new.error ->> 'code', new.error ->> 'message', new.attempts -> -1 ->> 'error'))
        on conflict (id) do update set text = excluded.text;
      else
        delete from job_failures where id = new.id;
      end if;
      return null;
    end $$;
    create or replace trigger operations_add_failure after insert on operations for each row
      when (new.status = 'failed' and not new.is_cancelled) execute function follow_failure();
    create or replace trigger operations_follow_failure after update on operations for each row
      when (((old.status = 'failed' and not old.is_cancelled) or (new.status = 'failed' and not new.is_cancelled))
        and (old.status, old.is_cancelled, old.error::text, old.attempts)
          is distinct from (new.status, new.is_cancelled, new.error::text, new.attempts))
      execute function follow_failure();
    create or replace trigger operations_delete_failure after delete on operations for each row
      when (old.status = 'failed') execute function follow_failure();

    -- For triggers of pg-boss's table, of rows that have a source.
    create or replace function follow_letter() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        delete from job_failures where id = old.source_id and is_letter;
      else
        insert into job_failures (id, is_letter, created_at, job, workspace_id, principal_id, request_id, text)
        select new.source_id, true, coalesce(new.source_created_on, new.created_on), new.source_name, (new.data ->> 'workspaceId')::uuid,
          (new.data -> 'cause' ->> 'actorId')::uuid, coalesce(new.data -> 'cause' ->> 'requestId', ''),
          failure_text('INTERNAL', new.output ->> 'message', null)
        where not exists (select from operations where id = coalesce((new.data ->> 'operationId')::uuid, new.source_id))
        on conflict (id) do update set text = excluded.text;
      end if;
      return null;
    end $$;
    commit;
  `)
  await copyFailures(knex)
  // Searches of failures read the new table.
  await knex.raw('drop index concurrently if exists operations_failed')
  await knex.raw('drop index concurrently if exists operations_error')
  // Counts and pages by two filters need only the index. A change of the status writes new entries of every index anyway, since several
  // indexes are about it.
  const replace = async (name: string, definition: string): Promise<void> => {
    await knex.raw(`drop index concurrently if exists ${name}_next`)
    await knex.raw(`create index concurrently ${name}_next on operations ${definition}`)
    await knex.raw(`drop index concurrently if exists ${name}`)
    await knex.raw(`alter index ${name}_next rename to ${name}`)
  }
  await replace('operations_job', '(job, created_at, id) include (workspace_id, status)')
  await replace('operations_workspace_created', '(workspace_id, created_at, id) include (job, status)')
  await replace('operations_principal', '(principal_id, created_at, id) include (job, workspace_id, status) where principal_id is not null')
  await replace('operations_cancelled', '(created_at, id) include (job, workspace_id, principal_id, request_id) where is_cancelled')
}

/** Copies the failures of before the triggers. Rows are locked, so that none that is retried meanwhile is copied. */
async function copyFailures(knex: Knex): Promise<void> {
  const copy = (after: string | null) =>
    knex.raw(
      `with failed as materialized (
         select id, false, created_at, job, workspace_id, principal_id, request_id, failure_text(error ->> 'code', error ->> 'message', attempts -> -1 ->> 'error') as text from operations
         where status = 'failed' and not is_cancelled and id > coalesce(?::uuid, '00000000-0000-0000-0000-000000000000')
         order by id limit 5000 for share
       ),
       copied as (insert into job_failures select * from failed on conflict (id) do nothing)
       select id from failed order by id desc limit 1`,
      [after],
    )
  for (let after: string | null = null; ; ) {
    const { rows }: { rows: { id: string }[] } = await copy(after)
    if (!rows[0]) return
    after = rows[0].id
  }
}
