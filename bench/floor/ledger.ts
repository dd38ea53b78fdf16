import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import { readText } from '#bench/floor/body.ts'
import { runStatement } from '#bench/floor/database.ts'
import { schemaOf } from '#shared/core/types/tables/table-names.ts'
import { insertEntry } from '#shared/features/accounting/entries/posting-store.ts'
import { platformCause } from '#shared/platform/kernel/cause.ts'

interface Line {
  readonly account_id: string
  readonly debit?: string
  readonly credit?: string
}

/** Postings; only the database checks them. */
export function ledgerRoutes(actorId: string): Router {
  const router = new Router()
  router.post('/ledger/:workspaceId', async (ctx) => {
    const { workspaceId = '' } = ctx.params
    const { memo, lines } = JSON.parse(await readText(ctx.req)) as { memo: string; lines: readonly Line[] }
    const [entry] = await runStatement(
      insertEntry({
        workspaceId,
        schema: schemaOf(workspaceId),
        id: randomUUID(),
        date: new Date().toISOString().slice(0, 10),
        memo,
        sourceType: 'manual',
        sourceId: null,
        currency: null,
        reverses: null,
        deduplicationKey: null,
        total: lines[0]?.debit ?? '0',
        lineCount: lines.length,
        createdBy: actorId,
        lineIds: lines.map(() => randomUUID()),
        accountIds: lines.map(({ account_id }) => account_id),
        debits: lines.map(({ debit = '0' }) => debit),
        credits: lines.map(({ credit = '0' }) => credit),
        memos: lines.map(() => ''),
        checkedAccountIds: [],
        cause: JSON.stringify(platformCause('floor')),
      }),
    )
    ctx.status = 201
    ctx.body = { data: { ...entry, memo, lines } }
  })
  return router
}
