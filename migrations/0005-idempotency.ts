import type { Knex } from 'knex'

/** The first answers to requests with an Idempotency-Key, kept 24 hours. A new table only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table kept_answers (
      principal_id uuid not null,
      path text not null,
      key text not null,
      body_hash bytea not null,
      -- The answer, sealed, since it may hold a key that is shown once; or the operation whose result it is. Both are null only inside the transaction that works on the request.
      answer bytea,
      operation_id uuid,
      created_at timestamptz not null default now(),
      primary key (principal_id, path, key)
    );
    create index kept_answers_created on kept_answers (created_at);
  `)
}
