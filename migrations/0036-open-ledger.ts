import type { Knex } from 'knex'

/**
 * Opens the ledger with one query where the accounts are known to have lines: those have records (shared/features/accounting/entries/post.ts), so
 * only others are looked for. Replaces a function; what the release before sends means the same.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- As in 0025, of which the order stays: the lock, then queries that each see what was committed until then.
    create or replace function open_ledger(workspace uuid, schema text, accounts uuid[]) returns table (
      default_currency text, multi_currency boolean, books_closed_through date, posted_at timestamptz, unknown_line integer
    ) language plpgsql as $$
    declare
      ledger bigint := hashtextextended('ledger ' || workspace, 0);
    begin
      -- An expression takes the lock without a query; who must wait needs one.
      if not pg_try_advisory_xact_lock_shared(ledger) then
        perform pg_advisory_xact_lock_shared(ledger);
      end if;
      if cardinality(accounts) > 0 then
        execute format(
          'select min(sent.position)::integer from unnest($1) with ordinality as sent (id, position)
           where not exists (select from %I.accounts as account where account.id = sent.id)', schema
        ) into unknown_line using accounts;
      end if;
      select book.default_currency, book.multi_currency, book.books_closed_through,
        greatest(
          clock_timestamp(),
          (select seal.until from ledger_seals as seal where seal.workspace_id = workspace order by seal.until desc, seal.position desc limit 1),
          (select kept.until from ledger_months_until as kept where kept.workspace_id = workspace)
        )
      into default_currency, multi_currency, books_closed_through, posted_at
      from workspaces as book where book.id = workspace;
      if found then return next; end if;
    end $$;
  `)
}
