import type { Knex } from 'knex'

/**
 * The ledger: journal entries, their lines and the seals over them. New tables, and a nullable column of workspaces that changes no row. A
 * trigger on workspaces waits for whoever writes one right now.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table workspaces add column books_closed_through date;

    -- Amounts have 13 digits before the point and 6 behind it; an entry is the sum of at most 199 of them.
    create table journal_entries (
      workspace_id uuid not null,
      id uuid not null,
      date date not null,
      memo text not null check (char_length(memo) <= 500),
      source_type text not null,
      source_id text,
      currency text not null,
      total numeric(22, 6) not null check (total > 0),
      line_count smallint not null check (line_count between 2 and 200),
      reverses uuid,
      -- What made the entry, where that may be done again: the run, node and iteration of a flow.
      natural_key text,
      created_by uuid,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      -- What the lines carry of their entry, so that no line can tell otherwise; in the order of posting, since lists go by it.
      constraint journal_entries_posting unique (workspace_id, created_at, id, date, currency, line_count),
      constraint journal_entries_reversed foreign key (workspace_id, reverses) references journal_entries
    );
    create unique index journal_entries_reverses on journal_entries (workspace_id, reverses) where reverses is not null;
    create unique index journal_entries_natural_key on journal_entries (workspace_id, natural_key) where natural_key is not null;
    create index journal_entries_date on journal_entries (workspace_id, date, created_at, id);

    create table journal_lines (
      workspace_id uuid not null,
      entry_id uuid not null,
      position smallint not null,
      id uuid not null,
      account_id uuid not null,
      debit numeric(19, 6) not null,
      credit numeric(19, 6) not null,
      memo text not null check (char_length(memo) <= 500),
      date date not null,
      currency text not null,
      line_count smallint not null,
      created_at timestamptz not null,
      primary key (workspace_id, entry_id, position),
      constraint journal_lines_entry foreign key (workspace_id, created_at, entry_id, date, currency, line_count)
        references journal_entries (workspace_id, created_at, id, date, currency, line_count),
      -- An entry has as many lines as it says once it is posted, so no place is left where another could join it.
      constraint journal_lines_place check (position between 1 and line_count),
      constraint journal_lines_side check (
        (debit > 0 and credit = 0 and debit <= 9223372036854) or (credit > 0 and debit = 0 and credit <= 9223372036854)
      )
    );
    -- An account's lines in the order of the ledger, and all lines of a currency by day: both answer sums without the table.
    create index journal_lines_ledger on journal_lines (workspace_id, account_id, currency, date, created_at, entry_id, position)
      include (debit, credit);
    create index journal_lines_day on journal_lines (workspace_id, currency, date) include (account_id, debit, credit, created_at);

    create table ledger_seals (
      workspace_id uuid not null,
      position integer not null check (position > 0),
      id uuid not null,
      until timestamptz not null,
      entries bigint not null,
      hash text not null,
      previous text,
      created_at timestamptz not null,
      primary key (workspace_id, position),
      constraint ledger_seals_chain check ((position = 1) = (previous is null))
    );
    create index ledger_seals_until on ledger_seals (workspace_id, until, position);

    -- At commit, whoever wrote it: an entry has all its lines, and their debits, their credits and its total are the same to the last digit.
    create function require_balance() returns trigger language plpgsql as $$
    declare
      lines bigint;
      debits numeric;
      credits numeric;
    begin
      select count(*), sum(debit), sum(credit) into lines, debits, credits
      from journal_lines where workspace_id = new.workspace_id and entry_id = new.id;
      if lines <> new.line_count or debits is distinct from new.total or credits is distinct from new.total then
        raise exception 'entry % has % of % lines, debits of %, credits of % and a total of %',
          new.id, lines, new.line_count, debits, credits, new.total
          using errcode = 'check_violation', constraint = 'journal_entries_balance', table = 'journal_entries';
      end if;
      return null;
    end $$;
    create constraint trigger journal_entries_balance after insert on journal_entries
      deferrable initially deferred for each row execute function require_balance();

    -- Lets this transaction post: takes the ledger's lock, shared (shared/features/accounting/ledger-lock-store.ts), and tells what the books are after that.
    -- Each query of this function sees what was committed until then, closed days and deleted accounts among it, which the statement that
    -- calls it does not. 'unknown_line' is the place of the first account that is no record; 'schema' holds the workspace's tables.
    create function open_ledger(workspace uuid, schema text, accounts uuid[]) returns table (
      default_currency text, multi_currency boolean, books_closed_through date, posted_at timestamptz, unknown_line integer
    ) language plpgsql as $$
    declare
      line integer;
    begin
      perform pg_advisory_xact_lock_shared(hashtextextended('ledger ' || workspace, 0));
      execute format(
        'select min(sent.position)::integer from unnest($1) with ordinality as sent (id, position)
         where not exists (select from %I.accounts as account where account.id = sent.id)', schema
      ) into line using accounts;
      return query select book.default_currency, book.multi_currency, book.books_closed_through,
        greatest(
          clock_timestamp(),
          (select seal.until from ledger_seals as seal where seal.workspace_id = workspace order by seal.until desc, seal.position desc limit 1),
          (select kept.until from ledger_months_until as kept where kept.workspace_id = workspace)
        ),
        line
      from workspaces as book where book.id = workspace;
    end $$;

    -- What was posted and sealed stays as it is, whoever asks.
    create trigger journal_entries_stay before update or delete or truncate on journal_entries
      for each statement execute function refuse_change();
    create trigger journal_lines_stay before update or delete or truncate on journal_lines
      for each statement execute function refuse_change();
    create trigger ledger_seals_stay before update or delete or truncate on ledger_seals
      for each statement execute function refuse_change();

    -- Rows only come, so what is kept up to date is the map that lets an index answer alone.
    alter table journal_entries set (autovacuum_vacuum_insert_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.02);
    alter table journal_lines set (autovacuum_vacuum_insert_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.02);

    -- Closing books, and changing the currency that they are kept in, wait for postings on their way: whoever posts holds the ledger's lock
    -- shared (shared/features/accounting/ledger-lock-store.ts). Each query of this function sees what was committed until then.
    create function settle_books() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended('ledger ' || new.id, 0));
      if new.default_currency <> old.default_currency and not new.multi_currency
        and exists (select from journal_entries where workspace_id = new.id) then
        raise exception 'the books of workspace % are kept in %', new.id, old.default_currency
          using errcode = 'check_violation', constraint = 'workspaces_books_currency', table = 'workspaces';
      end if;
      return new;
    end $$;
    create trigger workspaces_settle_books before update of default_currency, books_closed_through on workspaces for each row
      when (old.default_currency <> new.default_currency or old.books_closed_through is distinct from new.books_closed_through)
      execute function settle_books();
  `)
}
