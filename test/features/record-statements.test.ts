import test from 'ava'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { compileQuery, type RecordQuery } from '#shared/core/records/query/query.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { selectAccounts, selectAllAccounts } from '#shared/features/accounting/accounts/store.ts'
import { receivablesStatement } from '#shared/features/payments/overview/store.ts'
import { findStrayRecords } from '#shared/features/payments/reconciliation/store.ts'
import { type AnyBuilt, buildingFiles, builtContradictions, columnContradictions } from '#test/support/built-statements.ts'
import { statementDescriber } from '#test/support/describe-statement.ts'
import { scopeOf } from '#test/support/scope.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

test('record statements: PostgreSQL describes those of features as they are declared', async (t) => {
  const w = await start()
  const scope = await scopeOf(w, w.org)
  const describe = await statementDescriber(w.db)
  const [accounts, invoices, payments] = await Promise.all(['accounts', 'invoices', 'payments'].map((key) => requireRecordType(scope, key)))
  if (!accounts || !invoices || !payments) throw new Error('A built-in type is missing')
  const built: readonly (readonly [string, AnyBuilt])[] = [
    ['accounts', selectAccounts(accounts)],
    ['all accounts', selectAllAccounts(accounts)],
    ['stray records', findStrayRecords(payments)],
  ]
  const found: string[] = []
  for (const [name, statement] of built) found.push(...(await builtContradictions(describe, name, statement)))
  const queryOf = async (type: RecordType, query: RecordQuery) => {
    const access = recordAccessFor(scope, type, 'records:read')
    return { type, access, query: await compileQuery(scope, type, access, query) }
  }
  const open = await queryOf(invoices, { filter: [{ field: 'status', op: 'eq', value: 'open' }] })
  const receivables = receivablesStatement(open, await queryOf(payments, {}))('2026-11-21')
  found.push(...(await columnContradictions(describe, 'receivables', receivables)))
  t.deepEqual(found, [])
})

test('record statements: the test above knows every file of a feature that builds some', (t) => {
  t.deepEqual(buildingFiles('shared/features'), [
    'shared/features/accounting/accounts/store.ts',
    'shared/features/payments/overview/store.ts',
    'shared/features/payments/reconciliation/store.ts',
  ])
})
