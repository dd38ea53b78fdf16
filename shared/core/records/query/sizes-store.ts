import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import type { RecordType } from '#shared/core/types/record-type.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { sql } from '#shared/platform/db/statements/statement.ts'

/** Notes that a type has long records. Values: workspace, type id. */
export const markLongRecords = sql(
  'mark_long_records',
  'update record_types set long_records = true where workspace_id = $1 and id = $2 and not long_records',
)

const sizes: Readonly<Record<string, string>> = {
  // PostgreSQL keeps the length of long text beside it, so this reads none of it.
  text: 'coalesce(octet_length(??), 0)',
  'text[]': `coalesce(octet_length(array_to_string(??, ',')), 0)`,
  'uuid[]': 'coalesce(cardinality(??), 0) * 36',
}

/** SQL for the bytes of a row's text. */
export function textBytes({ fields }: RecordType): Knex.Raw {
  const parts = fields.flatMap(({ type, column }) => {
    const size = sizes[fieldKinds[type].columns[0]]
    return size === undefined ? [] : [builder.raw(size, [column])]
  })
  return builder.raw(['0', ...parts.map(() => '?')].join(' + '), parts)
}
