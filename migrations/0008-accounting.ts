import type { Knex } from 'knex'

/** The ledger: journal entries with their lines, seals over them, and month sums. What was posted or sealed is never changed. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Amounts have 13 digits before the point and 6 after it; a total is the sum of up to 199 of them. Both tables only grow: vacuuming after
    -- few inserts keeps the visibility map current, so that indexes answer alone.
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
      -- Repeated work posts one entry; a flow's key is made of run, node and iteration.
      deduplication_key text,
      created_by uuid,
      created_at timestamptz not null,
      primary key (workspace_id, id),
      -- For the foreign key of the lines, which repeat these columns; in the order of posting, by which lists are sorted.
      constraint journal_entries_posting unique (workspace_id, created_at, id, date, currency, line_count),
      constraint journal_entries_reversed foreign key (workspace_id, reverses) references journal_entries
    ) with (autovacuum_vacuum_insert_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.02);
    create unique index journal_entries_reverses on journal_entries (workspace_id, reverses) where reverses is not null;
    create unique index journal_entries_deduplication_key on journal_entries (workspace_id, deduplication_key) where deduplication_key is not null;
    -- Includes the currency: the entries of some days are counted by the index alone.
    create index journal_entries_date on journal_entries (workspace_id, date, created_at, id) include (currency);
    create index journal_entries_of_currency on journal_entries (workspace_id, currency, created_at, id);
    create index journal_entries_payment on journal_entries (workspace_id, source_id) where source_type = 'payment' and source_id is not null;

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
      -- A posted entry has all its lines, so no free position is left for another one.
      constraint journal_lines_place check (position between 1 and line_count),
      constraint journal_lines_side check (
        (debit > 0 and credit = 0 and debit <= 9223372036854) or (credit > 0 and debit = 0 and credit <= 9223372036854)
      )
    ) with (autovacuum_vacuum_insert_threshold = 10000, autovacuum_vacuum_insert_scale_factor = 0.02);
    -- The lines of an account in the order of the ledger, and all lines of a currency by day: both answer sums without the table.
    create index journal_lines_ledger on journal_lines (workspace_id, account_id, currency, date, created_at, entry_id, position)
      include (debit, credit);
    create index journal_lines_day on journal_lines (workspace_id, currency, date) include (account_id, debit, credit, created_at);
    create index journal_lines_of_account on journal_lines (workspace_id, account_id, created_at, entry_id);
    -- Lines that the month sums do not contain yet.
    create index journal_lines_posted on journal_lines (workspace_id, created_at) include (currency, date, account_id, debit, credit);

    -- Checked at the commit: an entry has all its lines, and its debits, its credits and its total are equal to the last digit.
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

    -- Hashes over the entries posted before 'until'; each continues the previous one.
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

    create trigger journal_entries_stay before update or delete or truncate on journal_entries
      for each statement execute function refuse_change();
    create trigger journal_lines_stay before update or delete or truncate on journal_lines
      for each statement execute function refuse_change();
    create trigger ledger_seals_stay before update or delete or truncate on ledger_seals
      for each statement execute function refuse_change();

    -- The sums of lines posted before 'until', by month, so that a report need not add every line. A worker advances both tables in one
    -- transaction (shared/features/accounting/reports/month-sums.ts).
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

    -- Begins a posting: takes the ledger's lock in shared mode (shared/features/accounting/ledger-lock-store.ts) and then reads the books. Each
    -- query of the function sees what was committed before it, such as closed days and deleted accounts; the calling statement does not.
    -- Only accounts that may have no lines yet are passed: an account with lines has a record. 'unknown_line' is the position of the first
    -- one without a record; 'schema' is the workspace's schema.
    create function open_ledger(workspace uuid, schema text, accounts uuid[]) returns table (
      default_currency text, multi_currency boolean, books_closed_through date, posted_at timestamptz, unknown_line integer
    ) language plpgsql as $$
    declare
      ledger bigint := hashtextextended('ledger ' || workspace, 0);
    begin
      -- The test takes a free lock without a query of its own. Waiting for the lock needs a query.
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

    -- Closing the books, or changing their currency, takes the ledger's lock exclusively and so waits for the postings in progress. Each query
    -- of the function sees what was committed before it.
    create function check_book_settings() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(hashtextextended('ledger ' || new.id, 0));
      if new.default_currency <> old.default_currency and not new.multi_currency
        and exists (select from journal_entries where workspace_id = new.id) then
        raise exception 'the books of workspace % are kept in %', new.id, old.default_currency
          using errcode = 'check_violation', constraint = 'workspaces_books_currency', table = 'workspaces';
      end if;
      return new;
    end $$;
    create trigger workspaces_check_book_settings before update of default_currency, books_closed_through on workspaces for each row
      when (old.default_currency <> new.default_currency or old.books_closed_through is distinct from new.books_closed_through)
      execute function check_book_settings();
  `)
}
