import { recordColumns } from '#shared/core/records/record.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { type StatementTemplate, slot } from '#shared/platform/db/statements/statement.ts'

const columnsIn = (accounts: RecordType) => {
  const columns = recordColumns(accounts)
  return builder.raw(columns.map(() => '??').join(', '), [...columns])
}

/** Accounts by id, without a check of rights. */
export const selectAccounts = (accounts: RecordType): StatementTemplate =>
  cachedStatement(accounts, 'accounts by ids', () =>
    builder.raw('select ? from ? where id = any(?::uuid[]) order by id', [columnsIn(accounts), tableOf(accounts), slot('ids')] as never),
  )

/** All accounts, without a check of rights. */
export const selectAllAccounts = (accounts: RecordType): StatementTemplate =>
  cachedStatement(accounts, 'all accounts', () =>
    builder.raw('select ? from ? order by id', [columnsIn(accounts), tableOf(accounts)] as never),
  )
