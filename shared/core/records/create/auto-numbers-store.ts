import { tableOf } from '#shared/core/records/store.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder } from '#shared/platform/db/statements/builder.ts'
import { buildStatement, type Statement, sql } from '#shared/platform/db/statements/statement.ts'

/** The next number of a period. Values: workspace, field, period. */
export const findNextNumber = sql('next_number', 'select next from field_numbers where workspace_id = $1 and field_id = $2 and period = $3')

/** Makes the next number of a period at least this one. Values: workspace, field, period, number. */
export const skipNumbers = sql(
  'skip_numbers',
  `update field_numbers set next = greatest(next, $4) where workspace_id = $1 and field_id = $2 and period = $3`,
)

/** Those of some texts that records hold in a unique field's column. */
export const heldTexts = (type: RecordType, column: string, texts: readonly string[]): Statement =>
  buildStatement(
    // Without the second condition the unique index, which holds no empty text, would not do.
    builder.raw(`select ?? as text from ? where ?? = any(?) and ?? <> ''`, [
      column,
      tableOf(type),
      column,
      builder.raw('?::text[]', [texts as never]),
      column,
    ]),
  )
