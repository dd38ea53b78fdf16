import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { pool } from '#bench/floor/database.ts'

/** Writes an entry and its lines in one statement, as Kontor does, but without the lock, the currency check and closed days. */
const text = `with entry as (
    insert into journal_entries
      (workspace_id, id, date, memo, source_type, currency, total, line_count, created_by, created_at)
    values ($1, $2, current_date, $3, 'manual', 'USD', $4::numeric, cardinality($5::uuid[]), $6, clock_timestamp())
    returning workspace_id, id, date, currency, line_count, created_at
  ),
  lines as (
    insert into journal_lines
      (workspace_id, entry_id, position, id, account_id, debit, credit, memo, date, currency, line_count, created_at)
    select entry.workspace_id, entry.id, position, uuidv7(), account_id, debit, credit, '', entry.date, entry.currency, entry.line_count,
      entry.created_at
    from entry cross join unnest($5::uuid[], $7::numeric[], $8::numeric[]) with ordinality as line (account_id, debit, credit, position)
  )
  select id, date, created_at from entry`

interface Line {
  readonly account_id: string
  readonly debit?: string
  readonly credit?: string
}

/** Postings; only the database checks them. */
export function ledgerRoutes(actorId: string): Router {
  const router = new Router()
  router.post('/ledger/:workspaceId', async (ctx) => {
    const { memo, lines } = JSON.parse(await readText(ctx.req)) as { memo: string; lines: readonly Line[] }
    const [accounts, debits, credits] = [
      lines.map(({ account_id }) => account_id),
      lines.map(({ debit = '0' }) => debit),
      lines.map(({ credit = '0' }) => credit),
    ]
    const given = [ctx.params.workspaceId, randomUUID(), memo, lines[0]?.debit, accounts, actorId, debits, credits]
    const { rows } = await pool.query({ name: 'post', text, values: given })
    ctx.status = 201
    ctx.body = { data: { ...rows[0], memo, lines } }
  })
  return router
}
