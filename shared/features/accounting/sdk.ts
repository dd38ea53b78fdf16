import { defineSdkMethod, optionalArgument, restrictToApp } from '#shared/core/automation/sdk-method.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import { postEntry } from '#shared/features/accounting/entries/post.ts'
import { reverseEntry } from '#shared/features/accounting/entries/reverse.ts'
import { entryInput, entrySchema, reversalInput } from '#shared/features/accounting/entries/schemas.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** TypeScript declaration of the entry that both methods return. */
const entry = `Promise<{
      id: string
      date: string
      memo: string
      source_type: string
      source_id: string | null
      total: string
      currency: string
      created_at: string
      lines: { id: string; account_id: string; debit: string; credit: string; memo: string }[]
      reverses?: string
      reversed_by?: string
    }>`

/** SDK methods of the ledger; they use the permissions of the run's caller. */
export const accountingMethods = restrictToApp('accounting', [
  defineSdkMethod(
    'accounting.post',
    `(entry: {
      date?: string | null
      memo?: string | null
      source_type?: string | null
      source_id?: string | null
      currency?: string | null
      lines: readonly { account_id: string; debit?: string | number | null; credit?: string | number | null; memo?: string | null }[]
    }): ${entry}`,
    [['entry', entryInput, entrySchema]],
    async ({ scope }, entry) => {
      requirePermission(scope, 'accounting:post')
      return postEntry(scope, entry)
    },
  ),
  defineSdkMethod(
    'accounting.reverse',
    `(id: string, reversal?: { date?: string | null }): ${entry}`,
    [
      ['id', schema(t.String())],
      ['reversal', optionalArgument(reversalInput)],
    ],
    async ({ scope }, id, reversal) => {
      requirePermission(scope, 'accounting:post')
      return reverseEntry(scope, id, reversal)
    },
  ),
])
