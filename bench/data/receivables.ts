import { makeWorkspace } from '#bench/data/pipeline.ts'
import { withDatabase } from '#bench/servers/connection.ts'
import { readRecordType } from '#shared/core/types/record-type.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import type { Database } from '#shared/platform/db/database.ts'

/** Makes a workspace with this many invoices in five currencies, a third of them partly paid, and returns its id. */
export function makeReceivables(databaseUrl: string, ownerId: string, invoices: number): Promise<string> {
  return withDatabase(databaseUrl, 'receivables', async (db) => {
    const id = await makeWorkspace(db, ownerId, 'Receivables')
    const [invoice, payment] = [await columnsOf(db, id, 'invoices'), await columnsOf(db, id, 'payments')]
    const schema = schemaOf(id)
    await db.query({
      text: `
        insert into ${schema}.invoices (id, created_at, updated_at, ${invoice('customer_name')}, ${invoice('due_date')}, ${invoice('status')},
          ${invoice('total')}, ${invoice('total')}_code)
        select uuidv7(), now(), now(), 'Customer ' || n % 100, current_date - n % 200 + 50, 'open', n % 5000 + 1,
          (array['USD', 'EUR', 'JPY', 'KWD', 'INR'])[1 + n % 5]
        from generate_series(1, $1) as n`,
      values: [invoices],
    })
    await db.query({
      text: `
        insert into ${schema}.payments (id, created_at, updated_at, ${payment('invoice_id')}, ${payment('paid_at')}, ${payment('amount')}, ${payment('amount')}_code)
        select uuidv7(), now(), now(), id, now() - row_number() over () % 300 * interval '1 day', ${invoice('total')} / 2, ${invoice('total')}_code
        from ${schema}.invoices where ${invoice('total')} % 3 = 0`,
    })
    await db.query({ text: `analyze ${schema}.invoices` })
    await db.query({ text: `analyze ${schema}.payments` })
    return id
  })
}

async function columnsOf(db: Database, workspaceId: string, key: string): Promise<(field: string) => string> {
  const type = await readRecordType(db, workspaceId, key)
  return (field) => type?.fieldByKey.get(field)?.column ?? field
}
