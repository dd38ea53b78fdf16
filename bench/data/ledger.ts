import { makeWorkspace } from '#bench/data/pipeline.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Database } from '#shared/platform/db/database.ts'

/** A workspace with accounts, and entries of two lines each over the last year. */
export interface Ledger {
  readonly workspaceId: string
  /** Ids of accounts. */
  readonly accounts: readonly string[]
}

/** Makes ledgers in other workspaces of the owner, with this many accounts and lines each, straight in the database. */
export function makeLedgers(
  databaseUrl: string,
  ownerId: string,
  sizes: readonly { readonly accounts: number; readonly lines: number }[],
): Promise<Ledger[]> {
  return withDatabase(databaseUrl, 'ledger', async (db) => {
    const made: Ledger[] = []
    for (const { accounts, lines } of sizes) made.push(await makeLedger(db, ownerId, accounts, lines))
    for (const table of ['journal_entries', 'journal_lines']) await db.query({ text: `vacuum analyze ${table}` })
    return made
  })
}

async function makeLedger(db: Database, ownerId: string, count: number, lines: number): Promise<Ledger> {
  const workspaceId = await makeWorkspace(db, ownerId, `Ledger of ${lines} lines`)
  const accounts = await makeAccounts(db, workspaceId, count)
  // In batches, because deferred checks of entries stay in memory until the commit.
  for (let from = 0; from < lines / 2; from += 50_000) {
    await db.query({
      text: `with made as (
          select n, uuidv7() as id, current_date - n % 365 as date, 1 + n % $2::int as debited, 1 + n * 7 % $2::int as credited,
            (1 + n % 100000) / 100.0 as amount, clock_timestamp() as at
          from generate_series($3::int, $4::int) as n
        ),
        entries as (
          insert into journal_entries (workspace_id, id, date, memo, source_type, currency, total, line_count, created_at)
          select $1, id, date, 'Sale ' || n, 'manual', 'USD', amount, 2, at from made
        )
        insert into journal_lines
          (workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at)
        select $1, made.id, side, uuidv7(), ($5::uuid[])[case side when 1 then debited else credited end],
          case side when 1 then amount else 0 end, case side when 2 then amount else 0 end, '', date, 'USD', 2, at
        from made cross join generate_series(1, 2) as side`,
      values: [workspaceId, count, from + 1, Math.min(from + 50_000, lines / 2), accounts],
    })
  }
  return { workspaceId, accounts }
}

const kinds = ['asset', 'liability', 'equity', 'revenue', 'expense']

async function makeAccounts(db: Database, workspaceId: string, count: number): Promise<string[]> {
  const fields = await db.query<{ key: string; column_name: string }>({
    text: `select field.key, field.column_name from fields as field
      join record_types as type on type.workspace_id = field.workspace_id and type.id = field.type_id
      where field.workspace_id = $1 and type.key = 'accounts' order by field.position`,
    values: [workspaceId],
  })
  const column = (key: string): string => `"${fields.find((field) => field.key === key)?.column_name}"`
  const made = await db.query<{ id: string }>({
    text: `insert into "${schemaOf(workspaceId)}".accounts (id, created_at, updated_at, ${column('code')}, ${column('name')}, ${column('kind')})
      select uuidv7(), now(), now(), 'A' || n, 'Account ' || n, ($2::text[])[1 + n % 5] from generate_series(1, $1::int) as n
      returning id`,
    values: [count, kinds],
  })
  return made.map(({ id }) => id)
}
