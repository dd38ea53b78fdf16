import { builder, type Knex } from '#shared/db/builder.ts'
import { sql } from '#shared/db/statement.ts'
import type { Scope } from '#shared/scope/scope.ts'
import { fieldKinds } from '#shared/types/fields/kinds.ts'
import type { RecordType } from '#shared/types/record-type.ts'

/** Text of one record, in UTF-16 units, from which its type is known as one of long records: 200 of less fit into any memory. */
const longFrom = 20_000

const mark = sql(
  'mark_long_records',
  'update record_types set long_records = true where workspace_id = $1 and id = $2 and not long_records',
)

/**
 * Notes it with a type when a record of these values is about to be written and is long: from then on pages of the type are measured before
 * they are read. Others are not, which saves every listing a sixth of its statement's time.
 */
export async function noteLength({ db }: Scope, type: RecordType, values: Readonly<Record<string, unknown>>): Promise<void> {
  if (!type.longRecords && textLength(values) >= longFrom) await db.query({ ...mark(type.workspaceId, type.id), repeatable: true })
}

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

/** UTF-16 units of the texts among a record's values. */
export function textLength(values: Readonly<Record<string, unknown>>): number {
  let length = 0
  for (const value of Object.values(values)) {
    if (typeof value === 'string') length += value.length
    else if (Array.isArray(value)) for (const entry of value as string[]) length += entry.length
  }
  return length
}
