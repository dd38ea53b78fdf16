import { text } from '#shared/platform/db/statements/sql-types.ts'
import { type Statement, statement } from '#shared/platform/db/statements/statement.ts'

const setLimits = statement(
  'db.setLimits',
  `select set_config('lock_timeout', $lockMs::text, true) as lock_timeout, set_config('statement_timeout', $statementMs::text, true) as statement_timeout`,
  {
    params: { lockMs: text, statementMs: text },
    columns: { lock_timeout: text.notNull, statement_timeout: text.notNull },
  },
)

/**
 * Limits the wait for a lock, and the time of each later statement, until the transaction ends; both in milliseconds. A search keeps the
 * shorter limit, and afterwards that of the transaction holds again.
 */
export const limitTransaction = ({ lockMs, statementMs }: { readonly lockMs: number; readonly statementMs: number }): Statement => ({
  ...setLimits({ lockMs: String(lockMs), statementMs: String(statementMs) }),
  transactionMs: statementMs,
})
