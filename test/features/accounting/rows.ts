import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { type Db, queryWithoutTriggers } from '#test/support/rows.ts'

/** An entry that is written past the API. */
export interface WrittenEntry {
  readonly total?: string
  /** Number of lines that the entry claims to have. */
  readonly count?: number
  /** Currency of the lines; the entry is in USD. */
  readonly currency?: string
}

/** Inserts an entry and its lines past the API; a line is `[debit, credit]`. */
export async function addEntry(
  db: Db,
  workspaceId: string,
  lines: readonly (readonly [string, string])[],
  { total = '10', count = lines.length, currency = 'USD' }: WrittenEntry = {},
): Promise<void> {
  const id = randomUUID()
  await db.query(
    `insert into journal_entries (workspace_id, id, date, memo, source_type, currency, total, line_count, created_at)
     values ($1, $2, '2026-01-01', '', 'manual', 'USD', $3, $4, '2026-01-01')`,
    [workspaceId, id, total, count],
  )
  for (const [index, [debit, credit]] of lines.entries()) {
    await db.query(
      `insert into journal_lines
         (workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at)
       values ($1, $2, $3, $4, $4, $5, $6, '', '2026-01-01', $7, $8, '2026-01-01')`,
      [workspaceId, id, index + 1, randomUUID(), debit, credit, currency, count],
    )
  }
}

/** Inserts a copy of an entry's first line at this position, past the API; `lineCount` is the line's own or a changed one. */
export async function addLine(db: Db, entryId: string, position: number, lineCount?: number): Promise<void> {
  await db.query(
    `insert into journal_lines select workspace_id, entry_id, $2, gen_random_uuid(), account_id, debit, credit, memo, date, currency,
       coalesce($3, line_count), created_at from journal_lines where entry_id = $1 and position = 1`,
    [entryId, position, lineCount ?? null],
  )
}

/** Begins a transaction, works in it and commits. Returns `committed`, or the text of the error. */
export async function commit(db: Pool, work: (client: Db) => Promise<unknown>): Promise<string> {
  const client = await db.connect()
  try {
    await client.query('begin')
    await work(client)
    const { command } = await client.query('commit')
    return command === 'COMMIT' ? 'committed' : command
  } catch (error) {
    await client.query('rollback')
    return (error as Error).message
  } finally {
    client.release()
  }
}

/** The number of entries with this memo. */
export async function countEntries(db: Db, workspaceId: string, memo: string): Promise<number> {
  return (await db.query('select from journal_entries where workspace_id = $1 and memo = $2', [workspaceId, memo])).rowCount ?? 0
}

/** Statements that change, delete or empty a table of the ledger, which the database refuses. */
export const ledgerTamperings: readonly ((table: string) => string)[] = [
  (table) => `update ${table} set created_at = now()`,
  (table) => `update ${table} set created_at = now() where false`,
  (table) => `delete from ${table}`,
  (table) => `truncate ${table} cascade`,
  (table) => `merge into ${table} using (select) as one on true when matched then delete`,
]

/** The sums of a workspace's months. */
export interface MonthSum {
  readonly month: string
  readonly debit: string
  readonly credit: string
}

/** The sums that are stored for a workspace's months. */
export async function readMonthSums(db: Db, workspaceId: string): Promise<MonthSum[]> {
  const { rows } = await db.query<MonthSum>('select month::text, debit, credit from ledger_months where workspace_id = $1', [workspaceId])
  return rows
}

/** Adds one to the stored debits of January 2026. */
export async function raiseMonthSum(db: Db, workspaceId: string): Promise<void> {
  await db.query(`update ledger_months set debit = debit + 1 where workspace_id = $1 and debit > 0 and month = '2026-01-01'`, [workspaceId])
}

/** Changes the debit of an entry's first line past the triggers. */
export async function setDebit(db: Pool, entryId: string, amount: number): Promise<void> {
  await queryWithoutTriggers(db, 'update journal_lines set debit = $2 where entry_id = $1 and position = 1', [entryId, amount])
}

/** Changes the memo of an entry past the triggers. */
export async function setMemo(db: Pool, entryId: string, memo: string): Promise<void> {
  await queryWithoutTriggers(db, 'update journal_entries set memo = $2 where id = $1', [entryId, memo])
}

/** Puts an `x` before the hash of a workspace's first seal, past the triggers. */
export async function breakSeal(db: Pool, workspaceId: string): Promise<void> {
  await queryWithoutTriggers(db, `update ledger_seals set hash = 'x' || hash where position = 1 and workspace_id = $1`, [workspaceId])
}

/** Takes the `x` of `breakSeal` away. */
export async function mendSeal(db: Pool, workspaceId: string): Promise<void> {
  await queryWithoutTriggers(db, 'update ledger_seals set hash = substr(hash, 2) where position = 1 and workspace_id = $1', [workspaceId])
}
