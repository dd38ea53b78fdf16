import { recordColumnNames, recordColumns } from '#shared/core/records/record-columns.ts'
import { cachedStatement, tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { uuids } from '#shared/platform/db/statements/sql-types.ts'
import { prepareStatement, slot } from '#shared/platform/db/statements/statement.ts'

const columnsIn = (accounts: RecordType) => {
  const columns = recordColumnNames(accounts)
  return builder.raw(columns.map(() => '??').join(', '), [...columns])
}

/** Accounts by id, without a check of rights. */
export const selectAccounts = (accounts: RecordType) =>
  cachedStatement(accounts, 'accounts by ids', () =>
    prepareStatement(
      builder.raw('select ? from ? where id = any(?::uuid[]) order by id', [columnsIn(accounts), tableOf(accounts), slot('ids')]),
      { params: { ids: uuids }, columns: recordColumns(accounts) },
    ),
  )

/** All accounts, without a check of rights. */
export const selectAllAccounts = (accounts: RecordType) =>
  cachedStatement(accounts, 'all accounts', () =>
    prepareStatement(builder.raw('select ? from ? order by id', [columnsIn(accounts), tableOf(accounts)]), {
      params: {},
      columns: recordColumns(accounts),
    }),
  )
