import { writeCsv } from '#shared/core/records/csv/write.ts'
import { readAmount, writeAmount } from '#shared/features/accounting/amount.ts'
import type { ExportFormat } from '#shared/features/accounting/export/format.ts'

const header = [
  ...['entry_id', 'date', 'posted_at', 'memo', 'source_type', 'source_id', 'reverses', 'currency'],
  ...['line_id', 'account_id', 'account_code', 'account_name', 'account_kind', 'debit', 'credit', 'line_memo'],
]

/** CSV with one row per line; each row repeats the columns of its entry. */
export const csv: ExportFormat = {
  contentType: 'text/csv; charset=utf-8',
  extension: 'csv',
  writeHeader: () => writeCsv([header]),
  writeEntry: ({ id, date, created_at, memo, source_type, source_id, reverses, currency, lines }, accountOf) =>
    writeCsv(
      lines.map((line) => {
        const account = accountOf(line.account_id)
        const amounts = [line.debit, line.credit].map((text) => writeAmount(readAmount(text), currency))
        return [
          ...[id, date, created_at, memo, source_type, source_id ?? '', reverses ?? '', currency],
          ...[line.id, line.account_id, account.code, account.name, account.kind ?? '', ...amounts, line.memo],
        ]
      }),
    ),
}
