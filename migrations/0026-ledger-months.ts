import type { Knex } from 'knex'

/** Sums of months, which a worker keeps so that reports need not add up every line. New tables and an index, which posting waits for. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The lines that were posted before 'until', by month; shared/features/accounting/reports/month-sums.ts moves both in one transaction.
    create table ledger_months (
      workspace_id uuid not null,
      currency text not null,
      account_id uuid not null,
      month date not null check (extract(day from month) = 1),
      debit numeric not null,
      credit numeric not null,
      primary key (workspace_id, currency, account_id, month)
    );
    create table ledger_months_until (
      workspace_id uuid primary key,
      until timestamptz not null
    );
    -- What is not in the sums of months yet.
    create index journal_lines_posted on journal_lines (workspace_id, created_at) include (currency, date, account_id, debit, credit);
  `)
}
