import type { Knex } from 'knex'

/**
 * The keys that may seal secrets, and a digest of a request that may be unknown. Locks idempotency_records for an instant; the table is new.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    set local lock_timeout = '10s';

    -- One row per SECRET_KEY. The first process inserts the current one.
    create table secret_keys (
      id uuid primary key,
      -- next: the key under which a rotation seals everything anew. retired: replaced by a rotation.
      state text not null check (state in ('current', 'next', 'retired')),
      -- A known text that the key itself sealed: a process that cannot open it has another key.
      check_sealed bytea not null,
      -- Of a retired key: what verifies the links in mails that it signed, sealed under the current key.
      link_key_sealed bytea,
      since timestamptz not null default now(),
      check ((state = 'retired') = (link_key_sealed is not null))
    );
    create unique index secret_keys_one on secret_keys (state) where state <> 'retired';

    -- Null once the key of the digest has been retired, so that it cannot be compared.
    alter table idempotency_records alter column body_hash drop not null;
  `)
}
