import type { Knex } from 'knex'

export const config = { transaction: false }

/**
 * What operators see of tracked jobs: attempts, the job that caused a job, and cancellations. The columns lock `operations` exclusively for a
 * moment; the table is not rewritten, and the indexes are built beside writers. Processes of the previous release write none of the columns.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    begin;
    set local lock_timeout = '10s';
    -- The newest attempts, oldest first: [{worker, started_at, ended_at, error}].
    alter table operations add column if not exists attempts jsonb not null default '[]';
    -- The operation whose attempt caused this one.
    alter table operations add column if not exists parent_id uuid;
    -- Whether an operator cancelled the job, or discarded it after its failure. The status of such an operation is failed.
    alter table operations add column if not exists is_cancelled boolean not null default false;
    commit;
  `)
  const create = async (name: string, definition: string): Promise<void> => {
    await knex.raw(`drop index concurrently if exists ${name}`)
    await knex.raw(`create index concurrently ${name} on operations ${definition}`)
  }
  // Lists of operators are in the order of filing. The index of a workspace's operations gets that order too, and replaces the one without.
  await create('operations_created', '(created_at, id)')
  await create('operations_workspace_created', '(workspace_id, created_at, id)')
  await knex.raw('drop index concurrently if exists operations_workspace')
  // In the order of filing by status, since few of very many open jobs run.
  await create('operations_open', '(status, created_at, id) where finished_at is null')
  await knex.raw('drop index concurrently if exists operations_unfinished')
  await create('operations_job', '(job, created_at, id)')
  await create('operations_principal', '(principal_id, created_at, id) where principal_id is not null')
  await create('operations_request', '(request_id)')
  await create('operations_parent', '(parent_id) where parent_id is not null')
  // Failures are few, so these cost other jobs nothing. The text is searched for parts.
  await create('operations_failed', "(created_at, id) where status = 'failed' and not is_cancelled")
  await create('operations_cancelled', '(created_at, id) where is_cancelled')
  await create(
    'operations_error',
    `using gin ((error ->> 'code') gin_trgm_ops, (error ->> 'message') gin_trgm_ops, (attempts -> -1 ->> 'error') gin_trgm_ops)
     where status = 'failed' and not is_cancelled`,
  )
}
